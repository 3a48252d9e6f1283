/**
 * The levels of proof of a database over restarts with other settings, and the command `verify --proof`, on a real node.
 */
import { join } from 'node:path';

import { openDatabase, type Database } from '../../../src/clickhouse/client/database';
import { engineFolderOf, knock } from '../../../src/clickhouse/engine/engineDoor';
import { SESSION_LIMITS } from '../../../src/ingest/session/sessionLimits';
import { readyShape } from '../../../src/wire/ready';
import { DEX_V2, DEX_V3, FULL_PLAN, type WorldPlan } from '../../../src/dev/world/worldPlan';
import type { ChainItem } from '../../../src/wire/chains';
import type { Overview } from '../../../src/wire/overview';
import type { Proof } from '../../../src/wire/proof';
import { askRows } from '../../support/engine/askRows';
import { eventually, until } from '../../support/eventually';
import { startTestAnvil } from '../../support/node/anvil';
import type { Json } from '../../support/node/lies';
import { startLyingProxy } from '../../support/node/lyingProxy';
import { runProgram, spawnProgram, waitForBlock, type Program } from '../../support/server/program';
import { startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

const TOKENS = ['wpls', 'usdc', 'dai'];
const PLAN: WorldPlan = {
  ...FULL_PLAN,
  tokens: FULL_PLAN.tokens.filter(({ key }) => TOKENS.includes(key)),
  pools: [
    { dex: DEX_V2, base: 'usdc', quote: 'wpls', sideUsd: 400_000, popularity: 1 },
    { dex: DEX_V3, base: 'dai', quote: 'wpls', sideUsd: 400_000, popularity: 1, fee: 3_000 },
  ],
  launches: [],
  anchors: ['usdc', 'dai'],
  majors: [],
  burnToken: 'usdc',
  holders: 0,
};

let on: WorldProgram;
let program: Program;
let head = 0;

async function mine(blocks: number): Promise<number> {
  const { world } = on;
  const [from] = world.users;
  for (let i = 0; i < blocks; i += 1) {
    const pool = world.pools[i % 2]!;
    const amountIn = (await world.balanceOf(pool.token0, pool.address)) / 5_000n;
    const swap = { from: from!, zeroForOne: true, amountIn };
    const transaction = pool.protocol === 'uniswap_v2' ? world.swapV2(pool, swap) : world.swapV3(pool, swap);
    head = (await world.mineBlock(undefined, [transaction])).number;
  }
  await waitForBlock(program.url, head);
  return head;
}

/** The part that is proven, without the senders, which are recovered later. */
const partOf = ({ level, proven_from, proven_to }: Proof) => ({ level, proven_from, proven_to });
const readiness = async (url: string) => readyShape.parse(await (await fetch(`${url}/readyz`)).json());
const proofs = async () => ({
  ready: partOf((await readiness(program.url)).proof),
  overview: partOf((await on.get<Overview>('/overview', program)).proof),
});
const both = (level: string, proven_from: number, proven_to: number) => ({
  ready: { level, proven_from, proven_to },
  overview: { level, proven_from, proven_to },
});

async function restart(settings: Record<string, string>): Promise<void> {
  await program.end('SIGTERM');
  program = await on.start(0, settings);
  await waitForBlock(program.url, head);
}

beforeAll(async () => {
  on = await startWorldProgram(PLAN);
  program = on.program;
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await on?.close();
});

test('readyz, overview and metrics name the range of proven blocks, over restarts with other proof levels and over a reorg', async () => {
  await mine(12);
  await on.anvil.rpc.call('anvil_mine', ['0x24', '0xa']);
  const first = await mine(1);
  expect(await proofs()).toEqual(both('full', 1, first));
  // Senders are recovered up to the last block in the final tables, which get final blocks in groups.
  await until(async () => {
    const { proof, checks } = await readiness(program.url);
    return (proof.senders_proven_to ?? 0) > checks.head.final_block! - SESSION_LIMITS.promoteMinBlocks;
  });
  await restart({ PROOF: 'bloom' });
  // No block is stored at the new level yet, so the proven range stays the same.
  expect(await proofs()).toEqual(both('full', 1, first));
  await mine(2);
  expect(await proofs()).toEqual(both('bloom', 1, head));
  await restart({ PROOF: 'full' });
  const weak = head;
  await mine(2);
  expect(await proofs()).toEqual(both('full', weak + 1, head));
  const text = await (await fetch(`${program.url}/metrics`)).text();
  expect(text).toContain(`candlehouse_proven_from_block{chain="369",level="full"} ${weak + 1}\n`);
  expect(text).toContain(`candlehouse_proven_to_block{chain="369",level="full"} ${head}\n`);
  expect(text).toContain('candlehouse_proven_from_block{chain="369",level="bloom"} 1\n');
  const [chain, ...others] = await on.get<ChainItem[]>('/chains', program);
  expect(others).toEqual([]);
  expect(chain).toMatchObject({
    chain_id: 369,
    indexed_block: head,
    head_block: head,
    proof: { level: 'full', proven_from: weak + 1, proven_to: head, senders_proven_to: null },
  });
  // The reorg replaces a block that was stored at the level bloom.
  head = (await on.world.reorg(3, [{}, {}, {}, {}])).at(-1)!.number;
  await waitForBlock(program.url, head);
  await until(async () => (await proofs()).ready.proven_to === head);
  expect(await proofs()).toEqual(both('full', weak, head));
});

test('verify --proof finds no difference, and prints the proof level and whether TRUSTED_BLOCK is set', async () => {
  const whole = await runProgram(['verify', '--proof'], on.settings);
  expect(whole).toEqual({ code: 0, output: expect.any(String) });
  expect(whole.output).toContain(`Blocks 1-${head} are proven at the level full.\n`);
  expect(whole.output).toContain('TRUSTED_BLOCK is not set.\n');
  expect(whole.output).toMatch(
    new RegExp(`^The stored rows of blocks 1-${head} equal the proven blocks`, 'm'),
  );
  const [row] = await withDatabase((database) =>
    askRows<{ hash: string }>(
      database,
      `SELECT lower(hex(b.hash)) AS hash FROM blocks AS b WHERE number = 2`,
    ),
  );
  const trusted = { ...on.settings, TRUSTED_BLOCK: `2:0x${row!.hash}` };
  const linked = await runProgram(['verify', '--proof', '--from', '5', '--to', '9'], trusted);
  expect(linked.output).toMatch(/^Parent hashes link the blocks to TRUSTED_BLOCK 2, 0x/m);
  expect(linked.code).toBe(0);
  const wrong = { ...on.settings, TRUSTED_BLOCK: `2:0x${'ab'.repeat(32)}` };
  const refused = await runProgram(['verify', '--proof', '--from', '5', '--to', '9'], wrong);
  expect(refused.output).toMatch(
    /^candlehouse: block 2 fails verification \(proof\): hash is 0x.*TRUSTED_BLOCK says 0xabab/m,
  );
  expect(refused.code).toBe(1);
});

async function withDatabase<T>(
  work: (database: Database) => Promise<T>,
  folder = on.settings['DATA_DIR']!,
): Promise<T> {
  const engine = await knock(engineFolderOf(folder));
  const database = openDatabase({ url: engine!.writerUrl });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

test('verify --proof names block, field and both values of each stored value that was changed', async () => {
  const changes: readonly (readonly [table: string, set: string, field: RegExp])[] = [
    ['logs', `data = concat(unhex('ff'), substring(data, 2))`, /log \d+ data: stored 0xff.*, proven 0x0/],
    ['logs', `tx_hash = reverse(tx_hash)`, /log \d+ tx_hash: stored 0x[0-9a-f]{64}, proven 0x[0-9a-f]{64}$/],
    ['logs', `tx_index = tx_index + 1`, /log \d+ tx_index: stored 1, proven 0$/],
    ['logs', `topic1 = reverse(topic1)`, /log \d+ topic1: stored 0x/],
    [
      'swaps',
      `maker = reverse(assumeNotNull(maker))`,
      /swap \d+ maker: stored 0x[0-9a-f]{40}, proven 0x[0-9a-f]{40}$/,
    ],
    ['swaps', `amount0 = amount0 + 1`, /swap \d+ amount0: stored \d+, proven \d+$/],
    ['blocks', `timestamp = timestamp + 1`, /^DIFFERENT block \d+ timestamp: stored \d+, proven \d+$/],
    ['blocks', `parent_hash = reverse(parent_hash)`, /parent_hash: stored 0x/],
    ['blocks', `hash = reverse(hash)`, / hash: stored 0x/],
  ];
  await withDatabase(async (database) => {
    const swaps = await askRows<{ ord: string }>(
      database,
      'SELECT toString(ord) AS ord FROM swaps ORDER BY ord LIMIT 9',
    );
    for (const [at, [table, set]] of changes.entries()) {
      const ord = Number(swaps[at]!.ord);
      const where = table === 'blocks' ? `number = ${Math.floor(ord / 2 ** 20)}` : `ord = ${ord}`;
      await database.command(
        'damage',
        `ALTER TABLE ${table} UPDATE ${set} WHERE ${where} SETTINGS mutations_sync = 2`,
      );
    }
  });
  const { code, output } = await runProgram(['verify', '--proof'], on.settings);
  const lines = output.split('\n').filter((line) => line.startsWith('DIFFERENT'));
  expect(lines).toHaveLength(changes.length);
  for (const [, , field] of changes) expect(lines.filter((line) => field.test(line))).toHaveLength(1);
  expect(output).toContain(`${changes.length} differences in blocks 1-${head}`);
  expect(code).toBe(1);
});

test('of three endpoints, the one that serves a whole chain of its own is outvoted, and nothing of its chain is stored', async () => {
  const other = await startTestAnvil();
  try {
    // The chain of this node has the same genesis, then different blocks with correct hashes. It is longer than the
    // other chain.
    await other.rpc.call('anvil_mine', [`0x${(head + 20).toString(16)}`, '0xa']);
    const lie = String(
      Reflect.get(Object(await other.rpc.call('eth_getBlockByNumber', ['0x14', false])), 'hash'),
    );
    const urls = [other.url, on.anvil.url, on.anvil.wsUrl];
    const own = await on.start(1, { RPC_URL: urls.join(','), PROOF: 'full' });
    try {
      await waitForBlock(own.url, head);
      expect(own.output()).toMatch(
        /"endpoint":"#0 [^"]*".*fails verification \(majority\): hash is 0x\w+, the majority of the endpoints says 0x/,
      );
      const { proof, problems } = await readiness(own.url);
      expect(partOf(proof)).toEqual({ level: 'full', proven_from: 1, proven_to: head });
      expect(problems.map(({ code }) => code)).toContain('node_benched');
      // The metrics name the endpoint and the block, with the hash of this endpoint and the hash of the majority.
      expect(await (await fetch(`${own.url}/metrics`)).text()).toMatch(
        /candlehouse_rpc_last_wrong_answer\{chain="369",endpoint="rpc-0",reason="block \d+ fails verification \(majority\): hash is 0x\w+, [^"]*0x\w+"\} 1/,
      );
      const truth = await on.anvil.rpc.call('eth_getBlockByNumber', [`0x${head.toString(16)}`, false]);
      const ready = readyShape.parse(await (await fetch(`${own.url}/readyz`)).json());
      expect(ready.checks.head.block_hash).toBe(Reflect.get(Object(truth), 'hash'));
      const engine = await knock(engineFolderOf(join(on.settings['DATA_DIR']!, '..', 'data-1')));
      const database = openDatabase({ url: engine!.writerUrl });
      const found = await askRows(
        database,
        `SELECT number FROM blocks AS b WHERE b.hash = unhex('${lie.slice(2)}')`,
      );
      await database.close();
      expect(found).toEqual([]);
    } finally {
      await own.end('SIGTERM');
    }
  } finally {
    await other.stop();
  }
});

test('reindex and the refill of lost rows take nothing from a node that lies about a log, alone or beside an honest node', async () => {
  const folder = join(on.settings['DATA_DIR']!, '..', 'data-2');
  const settings = { ...on.settings, DATA_DIR: folder, START_BLOCK: '2', PROOF: 'full' };
  let own = await on.start(2, settings);
  await waitForBlock(own.url, head);
  // The rows of a whole range of final blocks are lost, and another range follows it.
  await on.anvil.rpc.call('anvil_mine', ['0x80', '0xa']);
  await mine(1);
  await waitForBlock(own.url, head);
  const { block, last } = await eventually(
    () =>
      withDatabase(async (database) => {
        const rows = await askRows<{ block: number; last: number; ranges: number }>(
          database,
          `SELECT toUInt32(intDiv(min(ord), 1048576)) AS block,
             (SELECT min(to_block) FROM promotions WHERE status = 'done' AND kind != 'start') AS last,
             (SELECT toUInt32(count()) FROM promotions WHERE status = 'done' AND kind != 'start') AS ranges
           FROM swaps`,
        );
        return rows[0]!;
      }, folder),
    ({ ranges }) => ranges > 1,
  );
  const isLost = `intDiv(ord, 1048576) <= ${last}`;
  const readLogs = async (): Promise<unknown> =>
    withDatabase(
      (database) =>
        askRows(
          database,
          `SELECT count() > 0 AS some, toString(sum(sipHash64(tuple(*)))) AS hash FROM logs WHERE ${isLost}`,
        ),
      folder,
    );
  const before = await readLogs();
  expect(before).toEqual([{ some: 1, hash: expect.any(String) }]);
  const liar = await startLyingProxy(on.anvil.url, block, (receipt) => ({
    ...receipt,
    logs: (receipt['logs'] as Json[]).map((log) => ({ ...log, data: flipLast(String(log['data'])) })),
  }));
  const alone = { ...settings, RPC_URL: liar.url };
  const beside = { ...settings, RPC_URL: `${liar.url},${on.anvil.url}` };
  try {
    const range = ['--from', String(block), '--to', String(block)];
    const refused = await runProgram(['reindex', ...range], alone);
    expect(refused.output).toMatch(
      new RegExp(`block ${block} fails verification \\(proof\\): receiptsRoot is 0x\\w+, computed 0x`),
    );
    expect(refused.code).toBe(1);
    expect(await readLogs()).toEqual(before);
    const lies = liar.lies;
    const equal = await runProgram(['reindex', ...range], beside);
    expect(equal).toEqual({ code: 0, output: expect.stringContaining('equal the rows from the node') });
    expect(liar.lies).toBeGreaterThan(lies);

    await withDatabase(
      (database) =>
        database.command('lose rows', `ALTER TABLE logs DELETE WHERE ${isLost} SETTINGS mutations_sync = 2`),
      folder,
    );
    await own.end('SIGTERM');
    own = await on.start(2, alone);
    await until(() => own.output().includes(`block ${block} fails verification (proof)`));
    expect(await readLogs()).toEqual([{ some: 0, hash: '0' }]);
    await own.end('SIGTERM');
    own = await on.start(2, beside);
    await until(() => own.output().includes('the missing rows are stored again'));
    expect(await readLogs()).toEqual(before);
  } finally {
    await own.end('SIGTERM');
    await liar.close();
  }
});

/** Changes the last hex digit. */
function flipLast(hex: string): string {
  return hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0');
}

test('Ctrl-C ends verify --proof, which says how far it came', async () => {
  const stopped = spawnProgram(
    'verify --proof',
    { ...on.settings, RPC_URL: 'http://127.0.0.1:9' },
    { mayEnd: true },
  );
  await until(async () => stopped.output().length > 0);
  expect(await stopped.end('SIGINT')).toBe(1);
  expect(stopped.output()).toContain('stopped by SIGINT');
});
