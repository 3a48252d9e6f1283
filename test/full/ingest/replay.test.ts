/**
 * After a kill within a range, the program rebuilds the aggregates that lost rows and reports the repair in log and
 * metrics. Only then does the program mark the range as done.
 */
import { askRows } from '../../support/engine/askRows';
import { startStubChain, type StubChain } from '../../support/stub/stubChain';
import { findWrongTotal } from '../../../src/ingest/repair/viewCheck';
import { createProgramHome, type ProgramHome } from '../../support/server/runningProgram';

const FIRST = 200;
const LAST = 260;

let chain: StubChain;
let home: ProgramHome;

beforeAll(async () => {
  chain = await startStubChain({ blocks: LAST + 20, logsPerBlock: 24, pairs: 8 });
  home = await createProgramHome();
});

afterAll(async () => {
  await home?.drop();
  await chain?.close();
});

interface Range {
  readonly seq: string;
  readonly kind: string;
}

/** Makes the ingester see a range that was started and not finished. */
async function openLastRange(): Promise<Range> {
  const [range] = await askRows<Range>(
    home.database,
    "SELECT seq, kind FROM promotions WHERE status = 'done' ORDER BY seq DESC LIMIT 1",
  );
  const where = `status = 'done' AND seq = ${range!.seq}`;
  await home.database.command(
    'forget',
    `ALTER TABLE promotions DELETE WHERE ${where} SETTINGS mutations_sync = 2`,
  );
  return range!;
}

const barsOf = (): Promise<unknown[]> =>
  home.database.select('bars', 'SELECT * FROM bars FINAL ORDER BY timeframe, pair, leg, bucket');

test.each([
  ['backfill', FIRST],
  ['promotion', LAST],
])('a %s that was cut off while a view lost its rows is repaired at the next start', async (kind, head) => {
  chain.setHead(FIRST);
  const first = await home.start([chain.url]);
  await first.untilBlock(FIRST);
  // Ingests in steps, because single blocks are promoted, while a large jump is backfilled.
  for (let at = FIRST + 10; at <= head; at += 10) {
    chain.setHead(at);
    await first.untilBlock(at);
    await first.untilPromoted(chain.final);
  }
  await first.untilPromoted(chain.final);
  await first.stop();
  const before = await barsOf();
  expect(before.length).toBeGreaterThan(50);
  expect(await openLastRange()).toMatchObject({ kind });
  // Deletes rows but keeps the deduplication tokens, as after a kill between storing a token and its rows.
  // Repeating the insert then has no effect.
  await home.database.command('lose rows', 'ALTER TABLE bars DELETE WHERE true SETTINGS mutations_sync = 2');

  const second = await home.start([chain.url]);
  await second.untilBlock(head);
  await second.untilPromoted(chain.final);
  expect(second.log.filter(({ msg }) => /were rebuilt/.test(msg))).toMatchObject([{ found: 0 }]);
  expect(await second.metrics()).toMatch(/^candlehouse_aggregates_mended_total{chain="369"} 1$/m);
  await second.stop();
  expect(await findWrongTotal(home.database, new Map())).toBeNull();
  expect(await barsOf()).toEqual(before);
});
