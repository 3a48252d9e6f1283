/** Reads the code and the proxy targets of an address, each with the first block at which it was seen. */
import { rowType } from '../../clickhouse/rows/rowType';
import { codeSpansTable } from '../../clickhouse/schema/explorerTables';
import { blockOfOrd } from '../../domain/ord';
import type { Hex } from '../../domain/hex';
import { toCode, type ContractCode } from './contractFacts';
import type { LogSource } from '../logs/logFilter';

/** Largest number of spans of all requested contracts together. The newest are ignored beyond this number. */
const SPANS_MAX = 20_000;

const { version: versionType, ...spanTypes } = codeSpansTable.types;
const spanRow = rowType(spanTypes);

/** What stood at an address at the end of the block `from` and of all blocks before the next span. */
export interface CodeSpan {
  readonly from: number;
  /** Null if the address had no code. */
  readonly code: ContractCode | null;
}

/** Spans by address, oldest first. Before the first span, the code is unknown. */
export type SpanMap = ReadonlyMap<Hex, readonly CodeSpan[]>;

/** At most 1,000 addresses. `withLoneCodes` also counts a code that is stored without spans, as an older version did. */
export async function listSpans(
  { runner }: Pick<LogSource, 'runner'>,
  toBlock: number,
  addresses: readonly Hex[],
  { withLoneCodes }: { readonly withLoneCodes: boolean },
): Promise<Map<Hex, CodeSpan[]>> {
  const spans = new Map<Hex, CodeSpan[]>();
  if (addresses.length === 0) return spans;
  const params = {
    addresses: addresses.map((address) => address.slice(2)),
    to_block: toBlock,
    codes: withLoneCodes,
    limit: SPANS_MAX,
  };
  for (const row of await runner.run('contracts/list_code_spans', params, spanRow)) {
    const spansOfAddress = spans.get(row.address) ?? [];
    spans.set(row.address, spansOfAddress);
    const code = toCode(row);
    const lastSpan = spansOfAddress.at(-1);
    if (lastSpan === undefined || !isSameCode(lastSpan.code, code))
      spansOfAddress.push({ from: row.from_block, code });
  }
  return spans;
}

/** Whether the code and all targets are equal. */
export function isSameCode(a: ContractCode | null, b: ContractCode | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The span at the position of a log. The code may have changed within the block of the log; `spanBefore` is then the span
 * until this block.
 */
export function spanAt(
  spans: readonly CodeSpan[] | undefined,
  ord: number,
): { readonly span: CodeSpan | null; readonly spanBefore: CodeSpan | null } {
  const block = blockOfOrd(ord);
  const index = spans?.findLastIndex(({ from }) => from <= block) ?? -1;
  const span = spans?.[index] ?? null;
  return { span, spanBefore: span?.from === block ? (spans?.[index - 1] ?? null) : null };
}

/** The one implementation of a proxy; null for several. An account with delegated code has the target of its delegation. */
export function soleTarget(code: ContractCode, targets: readonly Hex[]): Hex | null {
  const [first = null] = targets;
  return targets.length === 1 || code.proxy?.kind === 'eip7702' ? first : null;
}

/**
 * The contracts whose code runs at the address: the implementation or the facets of a proxy. An account with
 * delegated code has the facets of the proxy to which it delegates.
 */
export function targetsOf(code: ContractCode | null): readonly Hex[] {
  const { implementation = null, facets = [] } = code?.proxy ?? {};
  return implementation === null ? facets : [implementation, ...facets];
}
