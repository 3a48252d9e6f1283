/**
 * Random transfers and V3 positions on the random test chain, stored in the tables and summed with plain
 * code. The tokens include LP tokens, tokens in no pool, and one token with false logs.
 */
import type { Database } from '../../../../src/clickhouse/client/database';
import { insertRows } from '../../../../src/clickhouse/rows/inserter';
import {
  positionEventsTable,
  transfersTable,
  type PositionEventRow,
  type TransferRow,
} from '../../../../src/clickhouse/schema/tables';
import { ZERO_ADDRESS, type Hex } from '../../../../src/domain/hex';
import { toOrd } from '../../../../src/domain/ord';
import type { HeadSnapshot } from '../../../../src/query/head/headSnapshot';
import { createRandom, type Random } from '../../../support/createRandom';
import {
  serveMarket,
  storeMarket,
  type MarketServer,
  type MarketWorld,
} from '../../../support/server/marketServer';
import type { TestStore } from '../../../support/engine/testStore';
import {
  commitOf,
  FIRST_BLOCK,
  HEADS_AT_ONCE,
  hexOf,
  insertCommits,
  snapshotOf,
  type World,
} from '../../../support/worlds/world';

export const DEAD: Hex = '0x000000000000000000000000000000000000dead';
export const HOLDERS: readonly Hex[] = Array.from({ length: 60 }, (_, index) => hexOf('e0', index, 40));
const MANAGERS: readonly Hex[] = [hexOf('c0', 1, 40), hexOf('c0', 2, 40)];
/** A token that is in no pool. */
export const LOOSE: readonly Hex[] = [hexOf('d0', 1, 40), hexOf('d0', 2, 40)];
/** A token whose logs show transfers of any amount by any sender. */
export const LIE: Hex = hexOf('aa', 4, 40);
const MAX = (1n << 256n) - 1n;
const ORPHAN_BASE = 70_000;

export interface Moves {
  readonly number: number;
  readonly transfers: TransferRow[];
  readonly positions: PositionEventRow[];
}

/** Transfers and position events of the canonical blocks, and of the orphaned blocks at the same heights. */
interface TransferWorld {
  readonly canonical: ReadonlyMap<number, Moves>;
  readonly orphans: ReadonlyMap<number, Moves>;
}

/** Balances while the transfers are generated, so that the balances of honest tokens never fall below
 * zero. */
type Books = Map<string, bigint>;

interface Maker {
  readonly random: Random;
  readonly tokens: readonly Hex[];
  readonly pools: readonly Hex[];
  readonly books: Books;
  /** Owners of positions by manager and id; null if the position was burnt. */
  readonly owners: Map<
    string,
    { manager: Hex; id: bigint; pool: Hex; liquidity: bigint; owner: Hex; ticks: number[] }
  >;
}

export function makeTransfers(world: World, seed: number): TransferWorld {
  const pools = world.blocks.flatMap((block) => block.pools);
  const lp = pools.filter(({ pool_type }) => pool_type === 2).map(({ address }) => address);
  const maker: Maker = {
    random: createRandom(seed),
    tokens: [...world.tokens.map(({ address }) => address), ...lp, ...LOOSE],
    pools: pools.filter(({ pool_type }) => pool_type === 3).map(({ address }) => address),
    books: new Map(),
    owners: new Map(),
  };
  const canonical = new Map<number, Moves>();
  const orphans = new Map<number, Moves>();
  for (const { number, timestamp } of world.blocks) {
    // An orphaned block must not change the balances of later blocks.
    const aside = { ...maker, books: new Map(maker.books), owners: copyOwners(maker) };
    orphans.set(number, makeMoves(aside, number, timestamp));
    canonical.set(number, makeMoves(maker, number, timestamp));
  }
  return { canonical, orphans };
}

function copyOwners({ owners }: Maker): Maker['owners'] {
  return new Map([...owners].map(([key, value]) => [key, { ...value }]));
}

function makeMoves(maker: Maker, number: number, timestamp: number): Moves {
  const moves: Moves = { number, transfers: [], positions: [] };
  const { random } = maker;
  let logIndex = random.int(3);
  const quiet = random() < 0.2;
  for (let count = quiet ? 0 : random.int(14); count > 0; count -= 1) {
    const common = { ord: toOrd(number, logIndex), timestamp };
    if (random() < 0.25 && maker.pools.length > 0) addPosition(maker, moves, common);
    else moves.transfers.push({ ...makeTransfer(maker), ...common, tx_index: logIndex >> 1 });
    logIndex += 1 + random.int(3);
  }
  return moves;
}

function makeTransfer({ random, tokens, books }: Maker): Omit<TransferRow, 'ord' | 'timestamp' | 'tx_index'> {
  const token = tokens[Math.floor(random() * random() * tokens.length)]!;
  const what = random();
  const someone = (): Hex => (random() < 0.06 ? DEAD : HOLDERS[Math.floor(random() ** 2 * HOLDERS.length)]!);
  let sender = what < 0.35 ? ZERO_ADDRESS : someone();
  const recipient =
    what < 0.02 ? ZERO_ADDRESS : what > 0.92 ? ZERO_ADDRESS : what > 0.85 ? sender : someone();
  const held = books.get(token + sender) ?? 0n;
  const lie = token === LIE;
  if (!lie && sender !== ZERO_ADDRESS && held <= 0n) sender = ZERO_ADDRESS;
  const most = sender === ZERO_ADDRESS ? random.big(10 + random.int(70)) : (books.get(token + sender) ?? 0n);
  const all = random() < 0.3;
  const amount =
    random() < 0.05
      ? 0n
      : lie
        ? random.pick([MAX, 1n << 255n, random.big(255), random.big(30)])
        : all
          ? most
          : (most * BigInt(random.int(1_000))) / 1_000n;
  const wrapped = token === tokens[0];
  books.set(token + sender, (books.get(token + sender) ?? 0n) - amount);
  books.set(token + recipient, (books.get(token + recipient) ?? 0n) + amount);
  const kind =
    wrapped && sender === ZERO_ADDRESS
      ? 'deposit'
      : wrapped && recipient === ZERO_ADDRESS
        ? 'withdrawal'
        : 'transfer';
  return { token, sender, recipient, amount, kind };
}

function addPosition(
  { random, pools, owners }: Maker,
  moves: Moves,
  common: { readonly ord: number; readonly timestamp: number },
): void {
  const known = [...owners.values()];
  const event = {
    ...common,
    sender: ZERO_ADDRESS,
    recipient: ZERO_ADDRESS,
    pair: ZERO_ADDRESS,
    tick_lower: 0,
    tick_upper: 0,
    liquidity: 0n,
    amount0: random.big(40),
    amount1: random.big(40),
  };
  if (known.length === 0 || random() < 0.25) {
    const lower = random.int(800) - 600;
    const made = {
      manager: random.pick(MANAGERS),
      id: random() < 0.1 ? random.big(255) : BigInt(known.length + 1),
      pool: random() < 0.05 ? ZERO_ADDRESS : random.pick(pools),
      liquidity: random.big(20 + random.int(60)),
      owner: random.pick(HOLDERS.slice(0, 6)),
      ticks: [lower, lower + 1 + random.int(600)],
    };
    const key = `${made.manager}${made.id}`;
    if (owners.has(key)) return;
    owners.set(key, made);
    const ids = { manager: made.manager, token_id: made.id };
    moves.positions.push({
      ...event,
      ...ids,
      kind: 'transfer',
      recipient: made.owner,
      amount0: 0n,
      amount1: 0n,
    });
    moves.positions.push({
      ...event,
      ...ids,
      ...placeOf(made),
      ord: common.ord + 1,
      kind: 'increase',
      liquidity: made.liquidity,
    });
    return;
  }
  const position = random.pick(known);
  const ids = { manager: position.manager, token_id: position.id };
  const what = random();
  if (what < 0.3) {
    const recipient = random() < 0.1 ? ZERO_ADDRESS : random.pick(HOLDERS.slice(0, 6));
    moves.positions.push({
      ...event,
      ...ids,
      kind: 'transfer',
      sender: position.owner,
      recipient,
      amount0: 0n,
      amount1: 0n,
    });
    position.owner = recipient;
  } else if (what < 0.55) {
    const liquidity = random.big(60);
    moves.positions.push({ ...event, ...ids, ...placeOf(position), kind: 'increase', liquidity });
    position.liquidity += liquidity;
  } else if (what < 0.85) {
    const liquidity = random() < 0.4 ? position.liquidity : position.liquidity / 3n;
    moves.positions.push({ ...event, ...ids, kind: 'decrease', liquidity });
    position.liquidity -= liquidity;
  } else {
    moves.positions.push({ ...event, ...ids, kind: 'collect', recipient: position.owner });
  }
}

function placeOf({
  pool,
  ticks,
}: {
  pool: Hex;
  ticks: number[];
}): Pick<PositionEventRow, 'pair' | 'tick_lower' | 'tick_upper'> {
  if (pool === ZERO_ADDRESS) return { pair: pool, tick_lower: 0, tick_upper: 0 };
  return { pair: pool, tick_lower: ticks[0]!, tick_upper: ticks[1]! };
}

/** Stores final blocks in batches, as promotions do, and head blocks with the orphaned blocks at their heights. */
async function storeTransfers(
  db: Database,
  { canonical, orphans }: TransferWorld,
  options: { readonly storedTo: number; readonly headFrom: number; readonly inserts: number },
): Promise<void> {
  const blocks = [...canonical.values()];
  const final = blocks.filter(({ number }) => number <= options.storedTo);
  const size = Math.ceil(final.length / options.inserts);
  for (let from = 0; from < final.length; from += size) {
    const batch = final.slice(from, from + size);
    await insertRows(
      db,
      transfersTable,
      batch.flatMap(({ transfers }) => transfers),
    );
    await insertRows(
      db,
      positionEventsTable,
      batch.flatMap(({ positions }) => positions),
    );
  }
  const heads = blocks
    .filter(({ number }) => number >= options.headFrom)
    .flatMap((moves) => [
      { ...orphans.get(moves.number)!, commit: ORPHAN_BASE + moves.number },
      { ...moves, commit: commitOf(moves.number) },
    ]);
  for (let from = 0; from < heads.length; from += HEADS_AT_ONCE) {
    const batch = heads.slice(from, from + HEADS_AT_ONCE);
    await insertCommits(
      db,
      transfersTable,
      batch.map(({ transfers, commit }) => ({ rows: transfers, commit })),
    );
    await insertCommits(
      db,
      positionEventsTable,
      batch.map(({ positions, commit }) => ({ rows: positions, commit })),
    );
  }
}

export function storeWallets(marketWorld: MarketWorld, moves: TransferWorld): Promise<TestStore> {
  return storeMarket(marketWorld, async ({ db }) => {
    await storeTransfers(db, moves, marketWorld.range);
    await confirmHolders(db);
  });
}

/** Stores a sample of every token, in which the contract confirmed all holders. */
async function confirmHolders(db: Database): Promise<void> {
  await db.command(
    'confirm holders',
    `INSERT INTO token_balance_checks (token, held_checked, sampled_block, sampled_holders)
     SELECT DISTINCT token, 8, 1, 1000000 FROM (SELECT token FROM token_balances UNION ALL SELECT token FROM transfers_head)`,
  );
}

/** Stores the chain and its transfers, and starts the API at a head with complete history. */
export async function startWallets(marketWorld: MarketWorld, moves: TransferWorld): Promise<MarketServer> {
  const { world, finalTo, tip } = marketWorld;
  return serveMarket(await storeWallets(marketWorld, moves), wholeSnapshot(world, finalTo, tip));
}

/** A snapshot of a chain with complete history. `orphans`: heights at which the alternative block is canonical. */
export function wholeSnapshot(
  world: World,
  finalTo: number,
  tip: number,
  orphans: readonly number[] = [],
): HeadSnapshot {
  const head = snapshotOf(world, finalTo, tip);
  const blocks = head.blocks.map((block) =>
    orphans.includes(block.number)
      ? { ...block, commit: ORPHAN_BASE + block.number, hash: hexOf('0f', block.number, 64) }
      : block,
  );
  const linked = blocks.map((block, index) => ({
    ...block,
    parentHash: blocks[index - 1]?.hash ?? block.parentHash,
  }));
  return {
    ...head,
    version: `${head.version}.${orphans.join()}`,
    startBlock: 1,
    hash: linked.at(-1)?.hash ?? head.hash,
    blocks: linked,
  };
}

/** Heights at which the chain of the snapshot holds the alternative block instead of the canonical block. */
function orphanedIn(head: HeadSnapshot): ReadonlySet<number> {
  return new Set(head.blocks.filter(({ commit }) => commit >= ORPHAN_BASE).map(({ number }) => number));
}

/**
 * The test data of the snapshot's chain. Its alternative blocks contain transfers only, so they change no
 * pools and prices.
 */
export function worldAt(world: World, head: HeadSnapshot): World {
  const orphaned = orphanedIn(head);
  const empty = { swaps: [], liquidity: [], states: [], pools: [], prices: [] };
  return {
    ...world,
    blocks: world.blocks.map((block) => (orphaned.has(block.number) ? { ...block, ...empty } : block)),
  };
}

/** Transfers and position events of the snapshot's chain, block by block. */
export function movesOf({ canonical, orphans }: TransferWorld, head: HeadSnapshot): Moves[] {
  const orphaned = orphanedIn(head);
  const moves: Moves[] = [];
  for (let number = FIRST_BLOCK; number <= head.number; number += 1)
    moves.push((orphaned.has(number) ? orphans : canonical).get(number)!);
  return moves;
}

/** Balances of every holder of each token, summed transfer by transfer, modulo 2^256 as signed numbers. */
export function plainBalances(moves: readonly Moves[]): Map<string, Map<string, bigint>> {
  const tokens = new Map<string, Map<string, bigint>>();
  for (const { token, sender, recipient, amount } of moves.flatMap(({ transfers }) => transfers)) {
    const holders = tokens.get(token) ?? new Map<string, bigint>();
    tokens.set(token, holders);
    const add = (who: string, change: bigint): void => {
      holders.set(who, BigInt.asIntN(256, (holders.get(who) ?? 0n) + change));
    };
    add(sender, -amount);
    // A mint to the zero address stays in the supply forever.
    if (sender !== ZERO_ADDRESS || recipient !== ZERO_ADDRESS) add(recipient, amount);
  }
  return tokens;
}

/** LP tokens of a V2 pool that holders sent to the zero address. Only the pool itself burns, from its own address. */
export function sentToZero(moves: readonly Moves[], token: string): bigint {
  return moves
    .flatMap(({ transfers }) => transfers)
    .filter((row) => row.token === token && row.recipient === ZERO_ADDRESS)
    .filter(({ sender }) => sender !== token && sender !== ZERO_ADDRESS)
    .reduce((sum, { amount }) => sum + amount, 0n);
}
