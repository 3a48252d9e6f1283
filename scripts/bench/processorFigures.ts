/** Measures the processor time of the API and of ClickHouse while work runs. */
import { processorSeconds } from './children/childProcess';
import type { Figure } from './figure';
import type { ServedApi } from './loaders/servedApi';

interface Work {
  /** Name of one unit of the work, such as `request`. */
  readonly per: string;
  readonly count: number;
  readonly unit: 'ms' | 'us';
  readonly limitName: string;
  run(): Promise<void>;
}

const PER_SECOND = { ms: 1e3, us: 1e6 } as const;

/** Processor time of each process per unit of the work, beside the time that a unit takes. */
export async function measureProcessors(
  api: ServedApi,
  enginePid: number,
  { per, count, unit, limitName, run }: Work,
): Promise<Figure[]> {
  const pids = Object.entries({ API: api.pid, ClickHouse: enginePid });
  const secondsBefore = pids.map(([, pid]) => processorSeconds(pid));
  const startedAt = performance.now();
  await run();
  const perUnit = PER_SECOND[unit] / count;
  const limit = ((performance.now() - startedAt) / 1_000) * perUnit;
  return pids.map(([processName, pid], index) => {
    const value = (processorSeconds(pid) - (secondsBefore[index] ?? 0)) * perUnit;
    return {
      name: `processor time of ${processName} per ${per}`,
      value,
      unit,
      limitName,
      limit,
      ratio: value / limit,
      target: 'printed',
      ok: true,
    };
  });
}
