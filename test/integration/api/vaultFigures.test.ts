/** Figures of vault pools that change while the pool stands: the fee in force, against the simulated vault's own books. */
import { openDatabase, type Database } from '../../../src/clickhouse/database';
import { migrate } from '../../../src/clickhouse/migrate';
import { createQueryRunner, type QueryRunner } from '../../../src/clickhouse/namedQueries';
import type { Hex } from '../../../src/domain/hex';
import type { IngestSession } from '../../../src/ingest/session';
import { createLog } from '../../../src/log';
import type { AuditDirectory } from '../../../src/query/auditDirectory';
import { readAuditInputs } from '../../../src/query/auditInputs';
import type { HeadSnapshot } from '../../../src/query/headSnapshot';
import { readHead } from '../../../src/query/headState';
import { createPairMemory, readPairTable, type PairTable } from '../../../src/query/pairTable';
import { toAudit } from '../../../src/query/tokenAudit';
import { createTokenPrices } from '../../../src/query/tokenPrices';
import { openSession } from '../../simulation/harness';
import { SIM_CHAIN_ID, simToken, SimChain } from '../../simulation/simChain';
import { SIM_DESCRIPTION } from '../../simulation/simDescription';
import type { SimVaultPool } from '../../simulation/simVault';
import { createTestDatabase, type TestDatabase } from '../../support/engine';

const SEED = 12;
const BLOCKS = 300;
const DEPTH = 20;

let test_: TestDatabase;
let database: Database;
let runner: QueryRunner;
let chain: SimChain;
let session: IngestSession;

beforeAll(async () => {
  test_ = await createTestDatabase();
  database = openDatabase({ url: test_.writerUrl });
  await migrate(database, createLog('silent', false));
  runner = createQueryRunner(database, { checkRows: true });
  chain = new SimChain(SEED);
  chain.mine(BLOCKS);
  const calm = { failure: 0, between: () => undefined };
  session = await openSession(chain, database, calm, { depth: DEPTH, commitSeed: 1 });
}, 60_000);

afterAll(async () => {
  await session.close();
  await database.close();
  await test_.drop();
});

/** Brings what is stored to the chain's head. */
async function catchUp(): Promise<HeadSnapshot> {
  const { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount } = chain.head;
  const header = { number, hash, parentHash, timestamp, baseFeePerGas, transactionCount, logsBloom: null };
  await session.advanceTo(header);
  return (await readHead(runner, SIM_CHAIN_ID))!;
}

const memory = { pairs: null as ReturnType<typeof createPairMemory> | null };

async function readTable(head: HeadSnapshot): Promise<PairTable> {
  const prices = createTokenPrices(runner, SIM_CHAIN_ID, SIM_DESCRIPTION);
  const { dexes } = SIM_DESCRIPTION;
  memory.pairs ??= createPairMemory(runner, SIM_CHAIN_ID, dexes);
  return readPairTable(runner, SIM_CHAIN_ID, head, prices, dexes, memory.pairs);
}

function listedAt(number: number): readonly SimVaultPool[] {
  const pools = chain.vaultPoolsAt(chain.at(number)!.hash)!;
  return pools.filter(({ nature }) => nature !== 'other');
}

/** 1e18 = 100 % in basis points, of which a pip is the hundredth. */
const bpsOf = ({ fee }: SimVaultPool): number => Math.round(Number(fee) / 1e12) / 100;

test('a pair shows the fee in force, as the chain grows and after a reorg', async () => {
  const shown = new Map<Hex, Set<number>>();
  for (let round = 0; round < 12; round += 1) {
    const head = await catchUp();
    const { byAddress } = await readTable(head);
    for (const pool of listedAt(head.number)) {
      const bps = byAddress.get(pool.address)!.item.fee_bps;
      expect([head.number, pool.address, bps]).toEqual([head.number, pool.address, bpsOf(pool)]);
      shown.set(pool.address, (shown.get(pool.address) ?? new Set()).add(bps));
    }
    if (round % 3 === 2) chain.reorg(10, 12);
    else chain.mine(8);
  }
  expect([...shown.values()].filter(({ size }) => size > 1).length).toBeGreaterThan(2);
});

test('an audit shows the fee as of its block', async () => {
  const head = await catchUp();
  const pairs = await readTable(head);
  const directory: AuditDirectory = {
    findPair: () => undefined,
    findToken: (address) => ({ address, symbol: null, name: null, decimals: 18 }),
    priceNow: (token) => pairs.prices.now(token),
  };
  const deps = { runner, chainId: SIM_CHAIN_ID, sources: SIM_DESCRIPTION, directory, table: null };
  let changed = 0;
  for (let block = 100; block <= head.number; block += 40) {
    const pools = new Map(listedAt(block).map((pool) => [pool.address as string, pool]));
    for (const token of [0, 1, 2, 3, 4, 5, 8, 9, 10, 11].map(simToken)) {
      const question = { token, block, candidates: [], neighbours: [] };
      const audit = toAudit(token, SIM_CHAIN_ID, null, await readAuditInputs(deps, head, question));
      for (const { address, fee_bps: bps } of audit.hops.flatMap((hop) => hop.pools)) {
        const pool = pools.get(address);
        if (pool === undefined) continue;
        expect([block, address, bps]).toEqual([block, address, Math.round(bpsOf(pool))]);
        if (bps !== Math.round(pairs.byAddress.get(address)!.item.fee_bps)) changed += 1;
      }
    }
  }
  expect(changed).toBeGreaterThan(0);
});
