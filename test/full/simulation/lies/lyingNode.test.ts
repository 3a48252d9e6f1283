/**
 * A node lies in one place of one block: it changes one digit of a field, or drops, repeats or reorders logs. The bloom
 * fits the lie. With an honest endpoint beside the liar, the decoded blocks are those of the honest chain. With the liar
 * alone, no block from the lie on is decoded. `npm run simulate -- --lies --seeds N` runs more seeds.
 */
import { parseChainDescription } from '../../../../src/chains/parseChainDescription';
import { BloomBuilder, bloomToHex } from '../../../../src/node/blocks/bloom';
import { createBlockSource } from '../../../../src/node/blocks/blockSource';
import { BlockProver } from '../../../../src/node/proof/blockProof';
import { EndpointPool } from '../../../../src/node/rpc/endpointPool';
import { RpcError } from '../../../../src/node/rpc/rpcError';
import type { RpcAnswer, RpcCall } from '../../../../src/node/rpc/rpcTransport';
import type { ChainBlock } from '../../../../src/domain/block';
import type { Hex } from '../../../../src/domain/hex';
import { AppError } from '../../../../src/errors';
import { decodeBlock } from '../../../../src/ingest/decode/decodeBlock';
import type { BlockFacts } from '../../../../src/ingest/rows/blockRows';
import { createDecodeContext } from '../../../../src/ingest/session/runIngest';
import { checkHeadSenders } from '../../../../src/ingest/session/sameChain';
import { newIngestStatus } from '../../../../src/ingest/session/status';
import { createLog } from '../../../../src/log';
import { createRandom, type Random } from '../../../support/createRandom';
import { deployTestWorld, startTestAnvil, type TestAnvil, type TestWorld } from '../../../support/node/anvil';
import { answerFrom, lie, LIES, type LieKind, type Recorded } from '../../../support/node/lies';
import { Random as Dice } from '../../../support/random';
import { TEST_POOLS } from '../../../support/worlds/testWorldPlan';
import { VirtualClock } from '../../../simulation/virtualClock';

const FIRST_SEED = Number(process.env['SIMULATION_FIRST_SEED'] ?? 1);
const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 60);
const BLOCKS = 16;
/** Largest number of blocks before and after the lie that a seed fetches. */
const BESIDE = 3;
const PROGRESS_EVERY_MS = 5_000;
/** Number of times that an ingester begins again in this test. */
const SESSIONS = 4;

jest.setTimeout(600_000 + SEEDS * 200);

const log = createLog('silent', false);
let anvil: TestAnvil;
let world: TestWorld;
/** All blocks of the node, by number. */
let blocks: Recorded[];
/** The number of the first block that the node may lie about. The blocks before it deploy the world. */
let start: number;
let blooms: BloomBuilder;
let honest: Decoded;

interface Decoded {
  /** The rows of each block as text, by number. */
  readonly rows: ReadonlyMap<number, string>;
  /** The transactions of each block whose swaps move a price by more than 10 %. */
  readonly moved: ReadonlyMap<number, ReadonlySet<number>>;
  readonly used: ReadonlyMap<number, ChainBlock>;
}

beforeAll(async () => {
  anvil = await startTestAnvil();
  world = await deployTestWorld(anvil);
  start = Number(await anvil.rpc.call('eth_blockNumber')) + 1;
  const random = createRandom(9);
  const pools = Object.values(TEST_POOLS).map((index) => world.pool(index));
  for (let block = 0; block < BLOCKS; block += 1) {
    const swaps = await Promise.all(
      Array.from({ length: random.int(5) }, async () => {
        const pool = random.pick(pools);
        const zeroForOne = random() < 0.5;
        const token = zeroForOne ? pool.token0 : pool.token1;
        const from = random.pick(world.users);
        // One swap in three moves the price by more than 10 %. Drawn before the first await, so that the order of
        // the node's answers does not change the world.
        const isLarge = random() < 0.33;
        const owned = await world.balanceOf(token, from);
        const held = await world.balanceOf(token, pool.address);
        const wanted = held / (isLarge ? 8n : 500n);
        const amountIn = wanted < owned / 8n ? wanted : owned / 8n;
        const swap = { from, zeroForOne, amountIn };
        return pool.protocol === 'uniswap_v2' ? world.swapV2(pool, swap) : world.swapV3(pool, swap);
      }),
    );
    await world.mineBlock(undefined, swaps);
  }
  blocks = [];
  for (let number = 0; number < start + BLOCKS; number += 1) {
    const at = `0x${number.toString(16)}`;
    blocks.push({
      header: await anvil.rpc.call('eth_getBlockByNumber', [at, true]),
      receipts: await anvil.rpc.call('eth_getBlockReceipts', [at]),
    } as Recorded);
  }
  // Compiles the WebAssembly before the simulation, because the virtual clock does not wait for the compilation.
  [blooms] = await Promise.all([BloomBuilder.create(), BlockProver.create()]);
  const { rows, moved, end, used } = await ingest(new Dice(1), [nodeOf(null)], {
    from: 0,
    to: blocks.length - 1,
    isHead: true,
  });
  expect(end).toBe('complete');
  honest = { rows, moved, used };
});

afterAll(() => anvil?.stop());

type Node = (calls: readonly RpcCall[]) => RpcAnswer[];

/** A node in memory. With `changed`, it answers this block in place of the one with the same number. */
function nodeOf(
  changed: { readonly number: number; readonly block: Recorded } | null,
  receipts = true,
): Node {
  const answer = answerFrom(blocks, (block) => {
    return changed !== null && block === blocks[changed.number] ? changed.block : block;
  });
  return (calls) =>
    calls.map((call) => {
      if (!receipts && call.method === 'eth_getBlockReceipts')
        return { error: new RpcError('method_missing', 'the method does not exist') };
      if (call.method !== 'eth_getLogs') return { result: structuredClone(answer(call)) };
      const [{ fromBlock, toBlock }] = call.params as [{ fromBlock: Hex; toBlock: Hex }];
      const numbers = Array.from(
        { length: Number(toBlock) - Number(fromBlock) + 1 },
        (_, i) => Number(fromBlock) + i,
      );
      const own = numbers.flatMap((number) => {
        const params = [`0x${number.toString(16)}`];
        return (answer({ method: 'eth_getBlockReceipts', params }) ?? []) as Recorded['receipts'];
      });
      return { result: structuredClone(own.flatMap(({ logs }) => logs)) };
    });
}

/** Makes the bloom of the header and of the receipts fit the logs. */
function fitBloom(block: Recorded): void {
  const asLogs = (logs: readonly unknown[]) => logs as ChainBlock['logs'];
  for (const receipt of block.receipts) receipt['logsBloom'] = bloomToHex(blooms.build(asLogs(receipt.logs)));
  const all = block.receipts.flatMap(({ logs }) => logs);
  block.header['logsBloom'] = bloomToHex(blooms.build(asLogs(all)));
}

interface Asked {
  readonly from: number;
  readonly to: number;
  /** Whether the blocks are read as blocks of the head. In a backfill, fewer senders are compared. */
  readonly isHead: boolean;
}

interface Run extends Decoded {
  /** `complete` if all blocks were decoded, otherwise the last error. */
  readonly end: string;
}

/**
 * Fetches and decodes the blocks from `from` to `to`, on top of the state after the honest blocks before them. After an error,
 * begins again, as a restart loads the state from the database.
 */
async function ingest(dice: Dice, nodes: readonly Node[], { from, to, isHead }: Asked): Promise<Run> {
  const clock = new VirtualClock(1_800_000_000_000, dice);
  const transports = nodes.map((send, index) => ({
    name: `#${index} memory`,
    send: async (calls: readonly RpcCall[], signal?: AbortSignal) => {
      await clock.sleep(10, signal);
      return send(calls);
    },
    close: () => Promise.resolve(),
  }));
  const pool = new EndpointPool({ transports, chainId: 369, log, clock, roundsMax: 2 });
  const timeOfDay = (): number => clock.now() / 1_000;
  const proof = { mode: dice.pick(['auto', 'full'] as const), trusted: null };
  const source = createBlockSource({ pool, log, clock, timeOfDay, proof });
  const rows = new Map<number, string>();
  const moved = new Map<number, ReadonlySet<number>>();
  const used = new Map<number, ChainBlock>();
  const { signal } = new AbortController();
  const session = async (): Promise<void> => {
    const chain = parseChainDescription(JSON.stringify(world.chainDescription), 'chain.json', 369);
    const context = createDecodeContext({ chain, status: newIngestStatus(), log });
    const decode = (block: ChainBlock): BlockFacts => decodeBlock(context, block, [], false);
    for (let number = 0; number < from; number += 1) decode(honest.used.get(number)!);
    for (let next = from; next <= to;) {
      const last = Math.min(to, next + dice.int(0, 4));
      for (const block of await source.fetchRange(next, last, { signal })) {
        const facts = decode(block);
        if (isHead) await checkHeadSenders(source, [block]);
        else await source.checkSenders(block, facts.moved);
        moved.set(block.number, facts.moved);
        rows.set(block.number, textOf(facts));
        used.set(block.number, block);
      }
      next = last + 1;
    }
  };
  let end = 'no session';
  await clock.run(
    (async () => {
      for (let attempt = 0; attempt < SESSIONS && end !== 'complete'; attempt += 1) {
        end = await session().then(
          () => 'complete',
          (error: unknown) => {
            if (error instanceof AppError && error.retryable) return error.message;
            throw error;
          },
        );
        await clock.sleep(1_000);
      }
    })(),
  );
  return { rows, moved, used, end };
}

function textOf({ held: _, moved: __, proof: ___, ...facts }: BlockFacts): string {
  return JSON.stringify(facts, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

interface Lie {
  readonly kind: LieKind;
  readonly number: number;
  readonly block: Recorded;
}

function makeLie(random: Random, isHead: boolean): Lie {
  for (;;) {
    const kind = random.pick(LIES);
    const number = start + random.int(BLOCKS);
    const told = blocks[number]!;
    const block = kind === 'from' ? lieAboutSender(random, number, isHead) : lie(random, told, kind);
    if (block === null) continue;
    // Lies about the time, the status and the sender do not change the bloom.
    if (kind !== 'timestamp' && kind !== 'status' && kind !== 'from') fitBloom(block);
    return { kind, number, block };
  }
}

/**
 * Changes the sender of one transaction: in the transaction, in the receipt, or in both. A change in both is noticed
 * only if the sender is recovered from the signature. In a backfill, this is certain only for a transaction with a swap
 * that moves the price by more than 10 %, so all others get a change in one place.
 */
function lieAboutSender(random: Random, number: number, isHead: boolean): Recorded | null {
  const told = blocks[number]!;
  const both = lie(random, told, 'from');
  if (both === null) return null;
  const index = both.receipts.findIndex((receipt, at) => receipt['from'] !== told.receipts[at]?.['from']);
  const places = isHead || honest.moved.get(number)?.has(index) === true ? 3 : 2;
  const place = random.int(places);
  if (place === 0) both.receipts[index]!['from'] = told.receipts[index]!['from'];
  if (place === 1) both.header.transactions[index]!['from'] = told.header.transactions[index]!['from'];
  return both;
}

test(`nothing wrong is decoded, whatever a node lies about (seeds ${FIRST_SEED} to ${FIRST_SEED + SEEDS - 1})`, async () => {
  expect([...honest.moved.values()].filter(({ size }) => size > 0).length).toBeGreaterThan(3);
  const told = new Map<string, number>();
  let shownAt = performance.now();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
    const random = createRandom(seed);
    const isHead = random() < 0.5;
    const made = makeLie(random, isHead);
    const isAlone = random() < 0.3;
    const hasReceipts = random() < 0.7;
    const from = made.number - random.int(BESIDE + 1);
    const to = Math.min(blocks.length - 1, made.number + random.int(BESIDE + 1));
    const liar = nodeOf(made, hasReceipts);
    const both = random() < 0.5 ? [liar, nodeOf(null)] : [nodeOf(null), liar];
    const { rows, end } = await ingest(new Dice(seed), isAlone ? [liar] : both, { from, to, isHead });
    const where = `seed ${seed}: ${made.kind} of block ${made.number}, ${isAlone ? 'alone' : 'with an honest node'}`;
    for (const [number, text] of rows)
      expect([where, number, text === honest.rows.get(number)]).toEqual([where, number, true]);
    if (isAlone) {
      expect([where, Math.max(0, ...rows.keys()) < made.number]).toEqual([where, true]);
      expect(end).toMatch(new RegExp(`block ${made.number}\\b`));
    } else expect([where, end, rows.size]).toEqual([where, 'complete', to - from + 1]);
    const name = `${made.kind}${isAlone ? ' alone' : ''}`;
    told.set(name, (told.get(name) ?? 0) + 1);
    if (performance.now() - shownAt < PROGRESS_EVERY_MS) continue;
    shownAt = performance.now();
    process.stderr.write(`lies: seeds ${FIRST_SEED}-${seed} of ${FIRST_SEED + SEEDS - 1}\n`);
  }
  process.stderr.write(
    `${SEEDS} lies: ${[...told]
      .sort()
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', ')}\n`,
  );
  if (SEEDS >= 300) expect(told.size).toBe(2 * LIES.length);
});

test('no false sender of a head block is decoded', async () => {
  const random = createRandom(5);
  let told = 0;
  for (let number = start; number < start + BLOCKS; number += 1) {
    const block = lie(random, blocks[number]!, 'from');
    if (block === null) continue;
    told += 1;
    const asked = { from: number, to: number, isHead: true };
    const { rows, end } = await ingest(new Dice(number), [nodeOf({ number, block })], asked);
    expect([number, rows.size]).toEqual([number, 0]);
    expect(end).toMatch(/\(proof\): from of transaction \d+ is 0x/);
  }
  expect(told).toBeGreaterThan(5);
});
