/** Opens the service of `backfill --source`, and logs which blocks it has and which parts of them it cannot prove. */
import type { BlockSource } from '../node/blocks/blockSource';
import { systemClock } from '../node/rpc/clock';
import { redactUrls } from '../chains/redactUrls';
import type { Config } from '../config';
import { steadyNow } from '../domain/time/steadyTime';
import { AppError } from '../errors';
import { createParquetSource, type ParquetSource } from '../ingest/parquet/parquetSource';
import { planService, ServiceRows, type BlockService } from '../ingest/services/blockService';
import { HyperSync, loadHyperSync } from '../ingest/services/hyperSync';
import { Portal } from '../ingest/services/portal';
import type { Logger } from '../log';
import type { OpenBlocks } from './backfillFiles';

interface ServiceContext {
  readonly config: Config;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Value of `--source`. */
  readonly url: string;
  readonly loadPackage?: ((name: string) => Promise<unknown>) | undefined;
}

/** The schemes of `--source`. The rest of the URL is an http or https URL. */
const SCHEMES = /^(sqd|hypersync)\+(https?:\/\/.+)$/;

/** @throws AppError `bad_config` if the source cannot be used, or if PROOF asks for more than a service can prove */
export async function openService(
  { config, log, signal, url, loadPackage }: ServiceContext,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<OpenBlocks> {
  const { mode } = config.proof;
  if (mode === 'full' || mode === 'receipts')
    throw new AppError(
      'bad_config',
      `PROOF is ${mode}, but a service cannot prove receipts; allowed with --source: auto, none, bloom or headers`,
    );
  const service = await connect(url, config, log, loadPackage);
  const runEnd = new AbortController();
  const runSignal = AbortSignal.any([signal, runEnd.signal]);
  const availableSpan = await service.findSpan(runSignal);
  const span = { from: Math.max(from, availableSpan?.from ?? 0), to: Math.min(to, availableSpan?.to ?? -1) };
  if (span.from > span.to) {
    const range = availableSpan === null ? 'none' : `${availableSpan.from}-${availableSpan.to}`;
    throw new AppError(
      'bad_config',
      `${service.name}: the service has the blocks ${range}, not ${from}-${to}`,
    );
  }
  const plan = planService(service, span.from, span.to);
  const blocks = span.to - span.from + 1;
  log.info(
    { service: service.name, from, to, blocks, nodeBlocks: to - from + 1 - blocks },
    'reading blocks from a service; the node sends the other blocks',
  );
  log.warn(
    { level: mode === 'headers' ? 'headers' : 'bloom', headers: mode === 'headers' ? 'node' : 'service' },
    'the service does not prove amounts and senders; verify --proof proves the stored blocks',
  );
  const staging = new ServiceRows(service, span.to, runSignal);
  // Unix time in seconds.
  const timeOfDay = (): number => steadyNow() / 1_000;
  let source: ParquetSource | null = null;
  return {
    from,
    to,
    wrapSource: (node: BlockSource) => {
      source = createParquetSource({
        node,
        plan,
        staging,
        proof: mode,
        lastBlock: to,
        log,
        signal: runSignal,
        timeOfDay,
      });
      return source;
    },
    close: async () => {
      runEnd.abort();
      await source?.idle();
      await staging.close();
      if (source === null) return;
      const { files, node } = source.counts;
      log.info({ service: files, node }, 'blocks were read from the service and from the node');
    },
  };
}

async function connect(
  url: string,
  config: Config,
  log: Logger,
  loadPackage: ServiceContext['loadPackage'],
): Promise<BlockService> {
  const [, scheme, target = ''] = SCHEMES.exec(url) ?? [];
  const name = redactUrls(url);
  if (scheme === undefined || !URL.canParse(target))
    throw new AppError(
      'bad_config',
      `--source: got ${name}; allowed: sqd+https://host/datasets/network or hypersync+https://host`,
    );
  const clock = systemClock();
  if (scheme === 'sqd') return new Portal({ url: target, name, log, clock });
  const token = config.hyperSyncToken;
  if (token === null)
    throw new AppError(
      'bad_config',
      'HYPERSYNC_TOKEN: got nothing; allowed: the token of a HyperSync server',
    );
  const client = await loadHyperSync(target, token, loadPackage);
  return new HyperSync({ name, client, chainId: config.chainId, log, clock });
}
