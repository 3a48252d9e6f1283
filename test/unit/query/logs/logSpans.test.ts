/** Tests the search by spans of blocks: it returns every position once, in order and in few steps, and
 * reports where it gave up. */
import { ALL_LOGS, type LogSource, type OrdRange } from '../../../../src/query/logs/logFilter';
import { searchSpans } from '../../../../src/query/logs/logSpans';
import { ORD_SPAN } from '../../../../src/domain/ord';
import { createRandom } from '../../../support/createRandom';
import { SEED } from '../../../support/run/seed';
import { finalHead } from '../../../support/worlds/finalHead';

const HEAD = finalHead(100_000);
const RANGE = { from: ORD_SPAN, to: 100_000 * ORD_SPAN };
const TOPIC = { ...ALL_LOGS, topics: [[`0x${'11'.repeat(32)}`], [`0x${'22'.repeat(32)}`], [], []] } as const;

/** A chain with logs at these positions, which records the spans that are read. */
function chainOf(ords: readonly number[], newestFirst: boolean) {
  const spans: OrdRange[] = [];
  return {
    spans,
    list: (span: OrdRange, limit: number): Promise<number[]> => {
      spans.push(span);
      const found = ords.filter((ord) => ord >= span.from && ord <= span.to).sort((a, b) => a - b);
      return Promise.resolve((newestFirst ? found.reverse() : found).slice(0, limit));
    },
  };
}

/** A contract with this number of logs in this range of positions. */
function sourceOf(logs: number, first: number, last: number): LogSource {
  const row = { logs: String(logs), first_ord: String(first), last_ord: String(last) };
  const run = (): Promise<never[]> => Promise.resolve([row as never]);
  const write = (): Promise<Buffer> => Promise.resolve(Buffer.alloc(0));
  const runner = { run, read: () => Promise.resolve([]), write, writeMade: write };
  return { chainId: 369, runner };
}

const nobody = sourceOf(0, 0, 0);

test('the search by spans equals a full scan for dense and rare logs, from both ends', async () => {
  const random = createRandom(SEED);
  for (let round = 0; round < 100; round += 1) {
    const count = random.int(300);
    // Many logs at one end of the range, few at the other.
    const ords = Array.from({ length: count }, () =>
      Math.floor(RANGE.from + random() ** 6 * (RANGE.to - RANGE.from)),
    );
    const places = [...new Set(ords)].sort((a, b) => a - b);
    const newestFirst = random() < 0.5;
    const ordsWanted = 1 + random.int(100);
    const chain = chainOf(places, newestFirst);
    const filter = random() < 0.5 ? TOPIC : { ...ALL_LOGS, addresses: [`0x${'33'.repeat(20)}` as const] };
    const source = sourceOf(60_000 + random.int(1e6), places[0] ?? 0, places.at(-1) ?? 0);
    const found = await searchSpans(source, HEAD, filter, RANGE, { newestFirst, ordsWanted }, chain.list);
    const all = newestFirst ? [...places].reverse() : places;
    expect({ seed: SEED, round, ...found }).toEqual({
      seed: SEED,
      round,
      ords: all.slice(0, ordsWanted),
      stoppedAtOrd: null,
    });
    expect(chain.spans.length).toBeLessThan(12);
  }
});

test('the logs of a contract with few logs are read in one span', async () => {
  const chain = chainOf([RANGE.from + 5], true);
  const filter = { ...ALL_LOGS, addresses: [`0x${'33'.repeat(20)}` as const] };
  const source = sourceOf(10, RANGE.from, RANGE.to);
  const found = await searchSpans(
    source,
    HEAD,
    filter,
    RANGE,
    { newestFirst: true, ordsWanted: 5 },
    chain.list,
  );
  expect(found).toEqual({ ords: [RANGE.from + 5], stoppedAtOrd: null });
  expect(chain.spans).toEqual([RANGE]);
});

test.each([true, false])(
  'a search without address and topic0 stops after 10,000 blocks and can continue (newest first: %s)',
  async (newestFirst) => {
    const places = [20, 15_000, 15_001, 61_000, 99_000].map((block) => block * ORD_SPAN + 7);
    const chain = chainOf(places, newestFirst);
    const filter = { ...ALL_LOGS, topics: [[], [`0x${'22'.repeat(32)}`], [], []] } as const;
    const seen: number[] = [];
    let range: OrdRange = RANGE;
    let turns = 0;
    for (; turns < 20; turns += 1) {
      const order = { newestFirst, ordsWanted: 100 };
      const found = await searchSpans(nobody, HEAD, filter, range, order, chain.list);
      seen.push(...found.ords);
      if (found.stoppedAtOrd === null) break;
      range = newestFirst
        ? { ...range, to: found.stoppedAtOrd - 1 }
        : { ...range, from: found.stoppedAtOrd + 1 };
    }
    expect(seen).toEqual(newestFirst ? [...places].reverse() : places);
    expect(turns).toBe(9);
  },
);
