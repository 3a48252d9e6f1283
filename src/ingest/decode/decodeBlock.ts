/**
 * Decodes one verified block into facts (rows without prices) and updates the pool registry. Deterministic:
 * the same blocks in the same order give the same facts. Does no I/O.
 */
import { isWeaker, type ChainBlock, type ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, ZERO_HASH, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import { EMPTY_STATE, moveBalances, type PoolState } from '../../domain/pool';
import { toBinParams } from '../../domain/pools/binMoves';
import { typeInState } from '../../domain/pools/poolShape';
import { NOT_WALKED } from '../../pricing/legState';
import { hookDoubt } from '../../protocols/hooks';
import {
  toPool,
  type PoolCreation,
  type PoolEvent,
  type Protocol,
  type SwapEvent,
} from '../../protocols/protocol';
import { noFacts, type BlockFacts } from '../rows/blockRows';
import { addFinding, addFirstState } from './addFoundPools';
import { isBigMove, makerOf, type BlockWork, type DecodeContext } from './decodeContext';
import { readManyTokenLog } from './decodeManyTokenLog';
import { isKeptLog } from './keptLogs';
import type { PlacedFinding } from '../pools/finding';
import type { KnownPool } from '../pools/poolRegistry';

const TRANSFER_TOPIC: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The number of the only leg (pair of tokens) of a pool with two tokens. */
const PAIR_LEG = 1;

/** Earlier logs of a pool in the same transaction, needed to decode the pool's later logs. */
interface TxMemory {
  txIndex: number;
  /** State before the pool's last Sync; null without a Sync. A V2 swap takes its price from the Sync before the swap. */
  beforeSync: PoolState | null;
  lpMinted: bigint | null;
  lpBurned: bigint | null;
  /** Net raw amounts of token0 and token1 that Transfers moved into the pool since its last event with a state row. */
  moved0: bigint;
  moved1: bigint;
}

interface Work extends BlockWork {
  /** By pool. */
  readonly memory: Map<Hex, TxMemory>;
}

/**
 * Decodes the block and returns its facts in log order. `findings` are what the node was asked before, because of logs
 * of this block. `reversible` means that the block is not final. The registry then records how to undo the block.
 * `created` has creations with the details that the node told, by the id of the pool or its address.
 */
export function decodeBlock(
  context: DecodeContext,
  block: ChainBlock,
  findings: readonly PlacedFinding[],
  reversible: boolean,
  created?: ReadonlyMap<Hex, PoolCreation>,
): BlockFacts {
  const { number, hash, parentHash, timestamp } = block;
  const facts = noFacts({ number, hash, parentHash, timestamp }, block.proof);
  context.registry.openBlock(number, reversible);
  const work: Work = { context, block, facts, memory: new Map(), earlier: new Map() };
  pushBlockRow(work);
  pushCreations(work);
  for (const finding of findings) addFinding(context, facts, finding);
  const keepsAll = context.keepsAllLogs(number);
  let position = -1;
  for (const log of block.logs) {
    position += 1;
    if (log.transactionHash === ZERO_HASH && isWeaker(block.proof ?? 'bloom', 'receipts'))
      context.onBlockLog();
    if (keepsAll || isKeptLog(log)) pushLogRow(work, log);
    const topic = log.topics[0];
    if (topic === undefined) continue;
    if (context.transfers.topics.has(topic)) context.transfers.read(block, log, facts);
    if (context.eventTopics.has(topic)) readPoolLog(work, log);
    else if (topic === TRANSFER_TOPIC) rememberTransfer(work, log);
    else if (context.creationTopics.has(topic)) readCreation(work, log, position, created);
    if (context.manyTokens.topics.has(topic)) readManyTokenLog(work, log);
  }
  for (const finding of findings) addFirstState(context, facts, finding);
  return facts;
}

function pushBlockRow({ context, block, facts }: Work): void {
  const { transactions } = block;
  facts.blocks.push({
    chain_id: context.chainId,
    number: block.number,
    hash: block.hash,
    parent_hash: block.parentHash,
    timestamp: block.timestamp,
    base_fee: block.baseFeePerGas,
    transaction_count: block.transactionCount,
    log_count: block.logs.length,
    gas_prices: transactions.flatMap(({ effectiveGasPrice }) => effectiveGasPrice ?? []),
    gas_used: transactions.flatMap(({ gasUsed }) => gasUsed ?? []),
  });
}

/** Adds the contracts that transactions of the block created directly, according to their receipts. */
function pushCreations({ block, facts }: Work): void {
  for (const tx of block.transactions) {
    if (tx.contractAddress === null) continue;
    facts.created_contracts.push({
      ord: toOrd(block.number, tx.index),
      timestamp: block.timestamp,
      address: tx.contractAddress,
      creator: tx.from,
      tx_hash: tx.hash,
      tx_index: tx.index,
    });
  }
}

function pushLogRow({ context, block, facts }: Work, log: ChainLog): void {
  facts.logs.push({
    chain_id: context.chainId,
    ord: toOrd(block.number, log.logIndex),
    timestamp: block.timestamp,
    address: log.address,
    topic_count: log.topics.length,
    topic0: log.topics[0],
    topic1: log.topics[1],
    topic2: log.topics[2],
    topic3: log.topics[3],
    data: log.data,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
  });
}

/** `position`: of the log among the logs of the block. */
function readCreation(
  work: Work,
  log: ChainLog,
  position: number,
  created?: ReadonlyMap<Hex, PoolCreation>,
): void {
  const { context, block, facts } = work;
  const dex = context.dexByFactory.get(log.address);
  if (dex === undefined) return;
  const protocol = context.protocolOfDex(dex);
  if (!protocol.creationTopics.has(log.topics[0] ?? '0x')) return;
  const creation = protocol.decodeCreation(log);
  if (creation === null) return context.onMalformed(log);
  const namesake = context.registry.findPool(creation.pool);
  if (namesake !== undefined) {
    const isSame = namesake.factory === dex.factory && (namesake.id ?? null) === (creation.id ?? null);
    if (creation.id !== undefined && !isSame) context.onRefused(creation.id, dex.factory);
    return;
  }
  const baseIsToken0 = context.baseIsToken0(creation.token0, creation.token1);
  const pool: KnownPool = {
    ...toPool(protocol, dex, created?.get(creation.id ?? creation.pool) ?? creation),
    baseIsToken0,
  };
  const ord = toOrd(block.number, log.logIndex);
  const finding = { fromBlock: block.number, pool, state: EMPTY_STATE, ord, createdTx: log.transactionHash };
  addFinding(context, facts, finding);
  if (protocol.poolOf !== undefined) return readPoolLog(work, log);
  // Some factories give a pool its first price before they emit the creation event.
  for (const earlierLog of listEarlier(block.logs, position, pool.address))
    if (context.eventTopics.has(earlierLog.topics[0] ?? '0x')) readPoolLog(work, earlierLog);
}

/**
 * The logs of the pool in the same transaction before the log at this position. Logs of the block itself, which may be
 * anywhere, have the largest transaction index.
 */
function listEarlier(logs: readonly ChainLog[], position: number, pool: Hex): ChainLog[] {
  const log = logs[position];
  if (log === undefined) return [];
  let from = position;
  while (from > 0 && (logs[from - 1]?.transactionIndex ?? -1) >= log.transactionIndex) from -= 1;
  return logs
    .slice(from, position)
    .filter(({ address, transactionHash }) => address === pool && transactionHash === log.transactionHash);
}

function memoryOf(work: Work, pair: Hex, txIndex: number): TxMemory {
  const known = work.memory.get(pair);
  if (known !== undefined && known.txIndex === txIndex) return known;
  const fresh: TxMemory = {
    txIndex,
    beforeSync: null,
    lpMinted: null,
    lpBurned: null,
    moved0: 0n,
    moved1: 0n,
  };
  work.memory.set(pair, fresh);
  return fresh;
}

/**
 * A V2 Mint or Burn event does not contain its amount of LP tokens. The pair emits a Transfer of that amount before
 * it: from the zero address to a holder, or from the pair to the zero address. MINIMUM_LIQUIDITY goes to the zero
 * address and is left out. See mint() and burn() in UniswapV2Pair.sol.
 */
function rememberTransfer(work: Work, log: ChainLog): void {
  if (log.topics.length !== 3 || log.data.length !== 66) return;
  const { registry, protocolOfPool } = work.context;
  const from = addressOfWord(log.topics[1] ?? '');
  const to = addressOfWord(log.topics[2] ?? '');
  if (work.context.hasTokenTransfers) {
    rememberMove(work, log, from, -1n);
    rememberMove(work, log, to, 1n);
  }
  const pool = registry.findPool(log.address);
  if (pool === undefined || !protocolOfPool(pool).hasShareTransfers) return;
  const memory = memoryOf(work, log.address, log.transactionIndex);
  if (from === ZERO_ADDRESS && to !== ZERO_ADDRESS) memory.lpMinted = BigInt(log.data);
  else if (to === ZERO_ADDRESS && from === log.address) memory.lpBurned = BigInt(log.data);
}

/** Remembers a Transfer of a token of the pool at `holder`, until the next event of the pool in this transaction. */
function rememberMove(work: Work, log: ChainLog, holder: Hex, sign: bigint): void {
  const pool = work.context.registry.findPool(holder);
  if (pool === undefined) return;
  const protocol = work.context.protocolOfPool(pool);
  if (!protocol.hasTokenTransfers) return;
  const memory = memoryOf(work, holder, log.transactionIndex);
  if (log.address === pool.token0) memory.moved0 += sign * BigInt(log.data);
  if (log.address === pool.token1) memory.moved1 += sign * BigInt(log.data);
  const before = work.context.registry.stateOf(holder);
  const event = protocol.readTransfer?.(before, memory.moved0, memory.moved1) ?? null;
  if (event !== null) pushEvent(work, log, pool, protocol, before, event);
}

function readPoolLog(work: Work, log: ChainLog): void {
  const { context } = work;
  const known = context.findPoolOf(log);
  if (known === undefined) return;
  const protocol = context.protocolOfPool(known);
  const before = context.registry.stateOf(known.address);
  const event = protocol.decodeEvent(log, before);
  if (event === null) return context.onMalformed(log);
  pushEvent(work, log, known, protocol, before, event);
}

/** Applies an event to the state of its pool, and adds its rows. */
function pushEvent(
  work: Work,
  log: ChainLog,
  known: KnownPool,
  protocol: Protocol,
  before: PoolState,
  event: PoolEvent,
): void {
  const { context } = work;
  const memory = memoryOf(work, known.address, log.transactionIndex);
  const isFee = event.kind === 'fee' || event.kind === 'swap_fee';
  const after = protocol.applyEvent(isFee ? before : withMoves(before, memory), event);
  if (after !== before) context.registry.setState(known.address, after);
  if (isFee) return;
  const type = typeInState(known.poolType, after.tick);
  const pool = type === known.poolType ? known : { ...known, poolType: type };
  // The Sync of a V2 swap comes before the swap and has its new reserves.
  const isStateOnly = event.kind === 'sync' || event.kind === 'curve';
  const mayMove = isStateOnly || event.kind === 'swap';
  if (mayMove && isBigMove(protocol.spotPrice(before, pool), protocol.spotPrice(after, pool)))
    work.facts.moved.add(log.transactionIndex);
  if (event.kind === 'sync') memory.beforeSync = before;
  const start = protocol.hasSync ? memory.beforeSync : before;
  if (event.kind === 'swap') pushSwap(work, log, pool, event, protocol, start, after);
  else if (!isStateOnly && event.kind !== 'initialize') pushLiquidity(work, log, pool, event, memory);
  if (!protocol.hasSync || isStateOnly) pushState(work, log, pool, event, protocol, after);
}

/** The state with the tokens that moved, which are then forgotten. */
function withMoves(state: PoolState, memory: TxMemory): PoolState {
  const { moved0, moved1 } = memory;
  if (moved0 === 0n && moved1 === 0n) return state;
  [memory.moved0, memory.moved1] = [0n, 0n];
  return moveBalances(state, moved0, moved1);
}

function pushSwap(
  work: Work,
  log: ChainLog,
  pool: KnownPool,
  event: SwapEvent,
  protocol: Protocol,
  before: PoolState | null,
  after: PoolState,
): void {
  // Without the Sync of its transaction, the known reserves are older than the swap. The swap then gets no price.
  const priced = before !== null;
  work.facts.swaps.push({
    ord: toOrd(work.block.number, log.logIndex),
    timestamp: work.block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    maker: makerOf(work, log),
    leg: PAIR_LEG,
    sender: event.sender,
    recipient: event.recipient,
    amount0: event.amount0,
    amount1: event.amount1,
    reserve0: priced ? after.reserve0 : 0n,
    reserve1: priced ? after.reserve1 : 0n,
    sqrt_price_x96: after.sqrtPriceX96,
    liquidity: after.liquidity,
    tick: after.tick,
    price: priced ? (protocol.spotPrice(after, pool) ?? 0) : 0,
    fee_pips: protocol.swapFeePips(pool, event, before, after),
  });
}

type LiquidityEvent = Exclude<StateEvent, { kind: 'swap' | 'sync' | 'initialize' | 'curve' }>;
type StateEvent = Exclude<PoolEvent, { kind: 'fee' | 'swap_fee' }>;

function pushLiquidity(
  work: Work,
  log: ChainLog,
  pool: KnownPool,
  event: LiquidityEvent,
  memory: TxMemory,
): void {
  const seen = event.kind === 'mint' ? memory.lpMinted : event.kind === 'burn' ? memory.lpBurned : null;
  work.facts.liquidity_events.push({
    ord: toOrd(work.block.number, log.logIndex),
    timestamp: work.block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    maker: makerOf(work, log),
    kind: event.kind,
    owner: event.owner,
    recipient: 'recipient' in event ? event.recipient : ZERO_ADDRESS,
    amount0: event.amount0,
    amount1: event.amount1,
    liquidity: 'liquidity' in event ? (event.liquidity ?? seen) : null,
    tick_lower: 'tickLower' in event ? event.tickLower : null,
    tick_upper: 'tickUpper' in event ? event.tickUpper : null,
  });
  // The LP tokens of a Transfer are assigned only to the next mint or burn.
  if (event.kind === 'mint') memory.lpMinted = null;
  if (event.kind === 'burn') memory.lpBurned = null;
}

function pushState(
  work: Work,
  log: ChainLog,
  pool: KnownPool,
  event: StateEvent,
  protocol: Protocol,
  after: PoolState,
): void {
  work.facts.pool_states.push({
    ord: toOrd(work.block.number, log.logIndex),
    timestamp: work.block.timestamp,
    pair: pool.address,
    dex: pool.dex,
    pool_type: pool.poolType,
    token0: pool.token0,
    token1: pool.token1,
    base_is_token0: pool.baseIsToken0,
    tx_hash: log.transactionHash,
    tx_index: log.transactionIndex,
    maker: makerOf(work, log),
    kind: event.kind === 'curve' ? 'fee' : event.kind,
    reserve0: after.reserve0,
    reserve1: after.reserve1,
    sqrt_price_x96: after.sqrtPriceX96,
    liquidity: after.liquidity,
    tick: after.tick,
    doubts: hookDoubt(pool),
    price: protocol.spotPrice(after, pool) ?? 0,
    balances: [],
    params: 'bins' in event ? toBinParams(event.bins ?? []) : [],
    unswapped: [],
    walked_liquidity: NOT_WALKED,
    near0: 0,
    near1: 0,
  });
}
