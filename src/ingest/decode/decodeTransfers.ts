/**
 * Decodes ERC-20 transfers, deposits and withdrawals of wrapped coins, the events of position managers, and the moves of
 * shares in bins. Needs no prices. The events are defined in EIP-20, EIP-721, WETH9.sol and INonfungiblePositionManager.sol of
 * Uniswap/v3-periphery (PancakeSwap and Slipstream use the same events) and of cryptoalgebra/Algebra.
 */
import type { PositionEventRow, TransferRow } from '../../clickhouse/schema/tables';
import type { BlockRef, ChainLog } from '../../domain/block';
import { addressOfWord, ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { toOrd } from '../../domain/ord';
import type { MintEvent, PoolEvent } from '../../protocols/protocol';
import {
  addressAt,
  addressOfTopic,
  isAddressTopic,
  isUint128,
  isUint160,
  loadData,
  uintAt,
} from '../../protocols/words';
import { BIN_MINT, readShareLog, TRANSFER_BATCH, type BinPlaces, type ShareRules } from './decodeShares';

/**
 * topic0 of Transfer(address indexed from, address indexed to, uint256). ERC-20 and ERC-721 share it. ERC-721
 * also indexes the third argument.
 */
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** topic0 of Deposit(address indexed dst, uint256 wad). */
const DEPOSIT: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
/** topic0 of Withdrawal(address indexed src, uint256 wad). */
const WITHDRAWAL: Hex = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65';
/**
 * topic0 of IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1).
 */
const INCREASE: Hex = '0x3067048beee31b25b2f1681f88dac838c8bba36af25bfb2b7cf7473a5847e35f';
/**
 * topic0 of Algebra's IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidityDesired, uint128 actualLiquidity,
 * uint256 amount0, uint256 amount1, address pool).
 */
const ALGEBRA_INCREASE: Hex = '0x8a82de7fe9b33e0e6bca0e26f5bd14a74f1164ffe236d50e0a36c3ea70f2b814';
/** topic0 of DecreaseLiquidity, which has the parameters of IncreaseLiquidity. */
const DECREASE: Hex = '0x26f6a048ee9138f2c0ce266f322cb99228e8d619ae2bff30c67f8dcf9d2377b4';
/** topic0 of Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1). */
const COLLECT: Hex = '0x40d0efd1a53d60ecbf40971b9daf7dc90178c3aadc7aab1765632738fa8b8f01';
/**
 * topic0 of the Mint event of a pool with ticks. The pool emits it right before the position manager emits
 * IncreaseLiquidity.
 */
const POOL_MINT: Hex = '0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde';

/**
 * topic0 of ModifyLiquidity of Uniswap V4 (uniswapV4.ts). The PoolManager emits it for all pools, and it is the only event
 * of a position besides the Transfers of its NFT.
 */
const MODIFY_LIQUIDITY: Hex = '0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec';

const NO_DATA: Hex = '0x';

/** Numbers of logs that were skipped, by reason: NFT transfers, and events of an unexpected shape. */
export interface SkippedLogs {
  nft: number;
  malformed: number;
  /** Number of IncreaseLiquidity events without a matching Mint of a known pool. Their rows name no pool. */
  unplaced: number;
}

interface TransferRules extends ShareRules {
  /** The wrapped native token, whose deposits and withdrawals always count. Null if there is none. */
  readonly wrappedNative: Hex | null;
  /** Decodes an event of a pool, or of a factory that emits those of its pools. Null for other contracts: any can emit it. */
  decodePoolEvent(log: ChainLog): PoolEvent | null;
}

export interface TransferRows {
  readonly transfers: TransferRow[];
  readonly position_events: PositionEventRow[];
  /** Contracts with a Transfer log that gives no row. Their balances do not follow from the rows. */
  readonly unreadableTokens: Set<Hex>;
}

type BlockAt = Pick<BlockRef, 'number' | 'timestamp'>;

export interface TransferDecoder {
  /** topic0 of every log that `read` decodes. */
  readonly topics: ReadonlySet<Hex>;
  /** Counts of skipped and unmatched logs since the start of the process. */
  readonly skipped: Readonly<SkippedLogs>;
  /**
   * Adds the row of the log to `rows`, if the log is one of the decoded events. Must be called in log order,
   * with the same `rows` for the whole block.
   */
  read(block: BlockAt, log: ChainLog, rows: TransferRows): void;
}

interface PoolMint extends MintEvent {
  readonly pool: Hex;
}

/** What the decoder remembers of the transaction that is being decoded. */
interface TxMemory {
  rows: TransferRows | null;
  txIndex: number;
  /** Mints of V3 pools by position managers. */
  readonly mints: PoolMint[];
  /** Bins that got shares by position managers. */
  readonly bins: BinPlaces;
  /** Transfer logs that explain a deposit or a withdrawal, by `wrapKey`. */
  readonly explained: Set<string>;
  /** Rows of deposits and withdrawals without such a Transfer log so far, by `wrapKey`. */
  readonly unpaired: Map<string, TransferRow[]>;
}

interface Work {
  readonly rules: TransferRules;
  readonly skipped: SkippedLogs;
  readonly memory: TxMemory;
}

export function createTransferDecoder(rules: TransferRules): TransferDecoder {
  const skipped: SkippedLogs = { nft: 0, malformed: 0, unplaced: 0 };
  const memory: TxMemory = {
    rows: null,
    txIndex: -1,
    mints: [],
    bins: new Map(),
    explained: new Set(),
    unpaired: new Map(),
  };
  const work: Work = { rules, skipped, memory };
  const topics = [TRANSFER, DEPOSIT, WITHDRAWAL, TRANSFER_BATCH];
  if (rules.positionManagers.size > 0)
    topics.push(INCREASE, ALGEBRA_INCREASE, DECREASE, COLLECT, POOL_MINT, MODIFY_LIQUIDITY, BIN_MINT);
  return {
    topics: new Set(topics),
    skipped,
    read: (block, log, rows) => readLog(work, block, log, rows),
  };
}

function readLog(work: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const { rules } = work;
  switch (log.topics[0]) {
    case TRANSFER:
      return readTransfer(work, block, log, rows);
    case DEPOSIT:
    case WITHDRAWAL:
      return readWrapping(work, block, log, rows);
    case POOL_MINT:
      rememberMint(work, log, rows);
      return;
    case TRANSFER_BATCH:
    case BIN_MINT:
      readShares(work, block, log, rows);
      return;
    case MODIFY_LIQUIDITY:
      readSalted(work, block, log, rows);
      return;
    case INCREASE:
    case ALGEBRA_INCREASE:
    case DECREASE:
    case COLLECT:
      if (rules.positionManagers.has(log.address)) readPosition(work, block, log, rows);
      return;
    default:
      return;
  }
}

function readTransfer(work: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const { rules, skipped } = work;
  const { topics, data } = log;
  const [, sender, recipient, nft] = topics;
  // A contract may index no argument of the event. The data then has all three.
  if (topics.length === 1 && loadData(data, 3) && isUint160(0) && isUint160(1)) {
    const move = { sender: addressAt(data, 0), recipient: addressAt(data, 1), amount: uintAt(2) };
    return pushTransfer(work, block, log, rows, move);
  }
  if (!isAddressTopic(sender) || !isAddressTopic(recipient)) {
    rows.unreadableTokens.add(log.address);
    skipped.malformed += 1;
    return;
  }
  const sides = { sender: addressOfTopic(sender), recipient: addressOfTopic(recipient) };
  if (topics.length === 3 && loadData(data, 1)) {
    const move = { sender: sides.sender, recipient: sides.recipient, amount: uintAt(0) };
    return pushTransfer(work, block, log, rows, move);
  }
  const tokenId = topics.length === 4 && data === NO_DATA ? uintOfTopic(nft) : null;
  if (tokenId !== null && rules.positionManagers.has(log.address)) {
    rows.position_events.push({ ...emptyEvent(block, log, tokenId), kind: 'transfer', ...sides });
    return;
  }
  // The fourth topic is the id of an NFT or an indexed amount.
  rows.unreadableTokens.add(log.address);
  if (tokenId === null) skipped.malformed += 1;
  else skipped.nft += 1;
}

function pushTransfer(
  work: Work,
  block: BlockAt,
  log: ChainLog,
  rows: TransferRows,
  move: Pick<TransferRow, 'sender' | 'recipient' | 'amount'>,
): void {
  const { address: token, transactionIndex, logIndex } = log;
  const { sender, recipient, amount } = move;
  rows.transfers.push({
    ord: toOrd(block.number, logIndex),
    timestamp: block.timestamp,
    token,
    sender,
    recipient,
    amount,
    kind: 'transfer',
    tx_index: transactionIndex,
  });
  if (sender === ZERO_ADDRESS || recipient === token)
    explain(work, log, rows, 'deposit', [recipient, sender]);
  if (recipient === ZERO_ADDRESS || sender === token)
    explain(work, log, rows, 'withdrawal', [sender, recipient]);
}

type WrapKind = 'deposit' | 'withdrawal';

const wrapKey = (token: Hex, kind: WrapKind, holder: Hex): string => `${token} ${kind} ${holder}`;

/**
 * A Transfer log that mints, burns, or moves tokens to or from the token contract itself explains the deposits or
 * withdrawals of its holder in the same transaction. These logs then change no balance of their own.
 */
function explain(
  work: Work,
  log: ChainLog,
  rows: TransferRows,
  kind: WrapKind,
  holders: readonly [Hex, Hex],
): void {
  const { explained, unpaired } = memoryOf(work, log, rows);
  for (const holder of holders) {
    const key = wrapKey(log.address, kind, holder);
    explained.add(key);
    for (const row of unpaired.get(key) ?? []) rows.transfers.splice(rows.transfers.indexOf(row), 1);
    unpaired.delete(key);
  }
}

/**
 * Returns the topic as an integer, or null if the topic is not 32 bytes of hex. Uses the buffer of `loadData`, so
 * data that was loaded before is lost.
 */
function uintOfTopic(topic: Hex | undefined): bigint | null {
  return topic !== undefined && loadData(topic, 1) ? uintAt(0) : null;
}

/**
 * Decodes a Deposit or Withdrawal, by which WETH9 mints and burns tokens without a Transfer log. Other contracts emit
 * these events beside a Transfer log, which then has the amount, or without being a token at all.
 */
function readWrapping(work: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const { topics, data, address: token } = log;
  const [topic, holderTopic] = topics;
  const isNative = token === work.rules.wrappedNative;
  let holder: Hex;
  if (topics.length === 2 && isAddressTopic(holderTopic) && loadData(data, 1))
    holder = addressOfTopic(holderTopic);
  else if (!isNative && topics.length === 1 && loadData(data, 2) && isUint160(0)) holder = addressAt(data, 0);
  else {
    if (isNative) work.skipped.malformed += 1;
    return;
  }
  const kind = topic === DEPOSIT ? 'deposit' : 'withdrawal';
  const key = wrapKey(token, kind, holder);
  const { explained, unpaired } = memoryOf(work, log, rows);
  if (!isNative && explained.has(key)) return;
  const row: TransferRow = {
    ord: toOrd(block.number, log.logIndex),
    timestamp: block.timestamp,
    token,
    sender: kind === 'deposit' ? ZERO_ADDRESS : holder,
    recipient: kind === 'deposit' ? holder : ZERO_ADDRESS,
    amount: uintAt(topics.length === 2 ? 0 : 1),
    kind,
    tx_index: log.transactionIndex,
  };
  rows.transfers.push(row);
  if (isNative) return;
  const sameKey = unpaired.get(key);
  if (sameKey === undefined) unpaired.set(key, [row]);
  else sameKey.push(row);
}

/** Returns the memory of the log's transaction. Forgets the previous transaction. */
function memoryOf({ memory }: Work, log: ChainLog, rows: TransferRows): TxMemory {
  if (memory.rows !== rows || memory.txIndex !== log.transactionIndex) {
    memory.rows = rows;
    memory.txIndex = log.transactionIndex;
    memory.mints.length = 0;
    memory.bins.clear();
    memory.explained.clear();
    memory.unpaired.clear();
  }
  return memory;
}

function rememberMint(work: Work, log: ChainLog, rows: TransferRows): void {
  const event = work.rules.decodePoolEvent(log);
  // decodeBlock.ts counts the malformed logs of known pools, so malformed logs of known pools are not counted
  // here.
  if (event?.kind !== 'mint' || !work.rules.positionManagers.has(event.owner)) return;
  memoryOf(work, log, rows).mints.push({ ...event, pool: log.address });
}

function readPosition(work: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const { topics, data } = log;
  const collect = topics[0] === COLLECT;
  const isAlgebraIncrease = topics[0] === ALGEBRA_INCREASE;
  // The first word of Algebra's event is the liquidity that was asked for.
  const [words, first] = isAlgebraIncrease ? [5, 1] : [3, 0];
  const tokenId = topics.length === 2 ? uintOfTopic(topics[1]) : null;
  if (tokenId === null || !loadData(data, words) || !(collect ? isUint160(0) : isUint128(first))) {
    work.skipped.malformed += 1;
    return;
  }
  const amounts = { amount0: uintAt(first + 1), amount1: uintAt(first + 2) };
  const event = { ...emptyEvent(block, log, tokenId), ...amounts };
  if (collect) rows.position_events.push({ ...event, kind: 'collect', recipient: addressAt(data, 0) });
  else {
    const liquidity = uintAt(first);
    const kind = topics[0] === DECREASE ? 'decrease' : 'increase';
    const placeFields = kind === 'increase' ? placeOf(work, log, rows, { ...amounts, liquidity }) : {};
    rows.position_events.push({ ...event, ...placeFields, kind, liquidity });
  }
}

/** A change of liquidity whose owner is a position manager, and whose salt is the number of the NFT. */
function readSalted({ rules }: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const event = rules.decodePoolEvent(log);
  if ((event?.kind !== 'mint' && event?.kind !== 'burn') || event.salt === undefined) return;
  const { owner: manager, salt, tickLower, tickUpper, liquidity, amount0, amount1 } = event;
  // A change of 0 pays out fees, whose amounts are in no event.
  if (!rules.positionManagers.has(manager) || liquidity === null || liquidity === 0n) return;
  const place = {
    pair: addressOfWord(log.topics[1] ?? ''),
    tick_lower: tickLower ?? 0,
    tick_upper: tickUpper ?? 0,
  };
  const change = { ...emptyEvent(block, log, salt), manager, liquidity, amount0, amount1 };
  rows.position_events.push(
    event.kind === 'mint' ? { ...change, ...place, kind: 'increase' } : { ...change, kind: 'decrease' },
  );
}

function readShares(work: Work, block: BlockAt, log: ChainLog, rows: TransferRows): void {
  const moves = readShareLog(work.rules, log, memoryOf(work, log, rows).bins);
  if (moves === null) work.skipped.malformed += 1;
  for (const move of moves ?? [])
    rows.position_events.push({ ...emptyEvent(block, log, move.token_id), ...move, kind: 'transfer' });
}

type Place = Pick<PositionEventRow, 'pair' | 'tick_lower' | 'tick_upper'>;
type Increase = Pick<PositionEventRow, 'amount0' | 'amount1' | 'liquidity'>;

/**
 * Returns the pool and ticks of an IncreaseLiquidity event. They come from the manager's last Mint in the same
 * transaction with the same liquidity and amounts.
 */
function placeOf(work: Work, log: ChainLog, rows: TransferRows, increase: Increase): Partial<Place> {
  const mint = memoryOf(work, log, rows).mints.findLast(
    ({ owner, liquidity, amount0, amount1 }) =>
      owner === log.address &&
      liquidity === increase.liquidity &&
      amount0 === increase.amount0 &&
      amount1 === increase.amount1,
  );
  if (mint === undefined) {
    work.skipped.unplaced += 1;
    return {};
  }
  return { pair: mint.pool, tick_lower: mint.tickLower ?? 0, tick_upper: mint.tickUpper ?? 0 };
}

function emptyEvent(block: BlockAt, log: ChainLog, tokenId: bigint): Omit<PositionEventRow, 'kind'> {
  return {
    ord: toOrd(block.number, log.logIndex),
    timestamp: block.timestamp,
    manager: log.address,
    token_id: tokenId,
    sender: ZERO_ADDRESS,
    recipient: ZERO_ADDRESS,
    pair: ZERO_ADDRESS,
    tick_lower: 0,
    tick_upper: 0,
    liquidity: 0n,
    amount0: 0n,
    amount1: 0n,
  };
}
