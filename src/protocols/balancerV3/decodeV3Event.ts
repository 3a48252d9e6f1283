/**
 * Decodes the logs of the vault of Balancer V3. One vault holds all pools, names a pool by the address of its contract, and
 * emits all events except the changes of an amplification. The caller checks that the emitter is the configured vault.
 * Events as in IVaultEvents.sol (balancer/balancer-v3-monorepo).
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { readArrays, readWords, toAddresses } from '../abiArrays';
import { ONE } from '../balancerV2/weightedPool';
import { addressOfTopic, isAddressTopic, isUint128, loadData, uintAt } from '../words';

/**
 * Topic of PoolRegistered(address indexed pool, address indexed factory, (address token, uint8 type, address rateProvider,
 * bool paysYieldFees)[], uint256 swapFee, uint32, address[3], HooksConfig, bool[4]).
 */
export const V3_POOL_REGISTERED: Hex = '0xbc1561eeab9f40962e2fb827a7ff9c7cdb47a9d7c84caeefa4ed90e043842dad';
/**
 * Topic of Swap(address indexed pool, address indexed tokenIn, address indexed tokenOut, uint256 amountIn, amountOut,
 * swapFee, swapFeeAmount). GMX's vault has the same topic, but indexes nothing.
 */
const SWAP: Hex = '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db';
/** Topic of LiquidityAdded(address indexed pool, address indexed, uint8 indexed, uint256 supply, uint256[] amounts, fees). */
const LIQUIDITY_ADDED: Hex = '0xa26a52d8d53702bba7f137907b8e1f99ff87f6d450144270ca25e72481cca871';
/** Topic of LiquidityRemoved, with the same values. */
const LIQUIDITY_REMOVED: Hex = '0xfbe5b0d79fb94f1e81c0a92bf86ae9d3a19e9d1bf6202c0d3e75120f65d5d8a5';
/** Topic of SwapFeePercentageChanged(address indexed pool, uint256). */
export const V3_SWAP_FEE_CHANGED: Hex = '0x89d41522342fabac1471ca6073a5623e5caf367b03ca6e9a001478d0cf8be4a1';
/** Topic of AggregateSwapFeePercentageChanged(address indexed pool, uint256). */
export const V3_KEPT_PART_CHANGED: Hex = '0xe4d371097beea42453a37406e2aef4c04f3c548f84ac50e72578662c0dcd7354';
/** Topic of PoolRecoveryModeStateChanged(address indexed pool, bool). */
const RECOVERY_CHANGED: Hex = '0xc2354cc2f78ea57777e55ddd43a7f22b112ce98868596880edaeb22b4f9c73a9';

/** topic0 of the events that the vault emits. Only `V3_POOL_REGISTERED` creates a pool. */
export const V3_VAULT_TOPICS: ReadonlySet<Hex> = new Set([
  V3_POOL_REGISTERED,
  SWAP,
  LIQUIDITY_ADDED,
  LIQUIDITY_REMOVED,
  V3_SWAP_FEE_CHANGED,
  V3_KEPT_PART_CHANGED,
  RECOVERY_CHANGED,
]);

/** Tokens of the largest pool (VaultStorage.sol, _MAX_TOKENS). */
export const V3_TOKENS_MAX = 8;
/** Words of PoolRegistered before the list of tokens: the offset of the list, fee, time, accounts, hooks and flags. */
const REGISTERED_HEADS = 21;
/** Words of a token in the list. */
const TOKEN_WORDS = 4;
const WORD_BYTES = 32n;

interface Registered {
  readonly kind: 'registered';
  readonly tokens: readonly Hex[];
  /** 1e18 means 100 %. */
  readonly swapFee: bigint;
}

interface V3Swap {
  readonly kind: 'swap';
  readonly tokenIn: Hex;
  readonly tokenOut: Hex;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  /** The fee that was charged, which a hook may have chosen; 1e18 means 100 %. */
  readonly swapFee: bigint;
  /** The whole fee in raw units of the token that goes in. */
  readonly feeAmount: bigint;
}

interface LiquidityChange {
  readonly kind: 'mint' | 'burn';
  readonly provider: Hex;
  /** Raw amounts and fees in the order of the tokens. */
  readonly amounts: readonly bigint[];
  readonly fees: readonly bigint[];
}

/** The fee of the pool, or the part of it that goes to the protocol and to the creator of the pool; 1e18 means 100 %. */
interface FeeChange {
  readonly kind: 'swap_fee' | 'aggregate_fee';
  readonly fee: bigint;
}

/** In recovery mode, nothing goes to the protocol. */
interface RecoveryChange {
  readonly kind: 'recovery';
  readonly isOn: boolean;
}

export type V3Event = Registered | V3Swap | LiquidityChange | FeeChange | RecoveryChange;

/** Decodes a log of the vault; null for an unknown topic or a malformed layout. Never throws. */
export function decodeV3Event(log: Pick<ChainLog, 'topics' | 'data'>): V3Event | null {
  if (!isAddressTopic(log.topics[1])) return null;
  switch (log.topics[0]) {
    case V3_POOL_REGISTERED:
      return decodeRegistered(log);
    case SWAP:
      return decodeSwap(log);
    case LIQUIDITY_ADDED:
      return decodeLiquidity(log, 'mint');
    case LIQUIDITY_REMOVED:
      return decodeLiquidity(log, 'burn');
    case V3_SWAP_FEE_CHANGED:
      return decodeFee(log, 'swap_fee');
    case V3_KEPT_PART_CHANGED:
      return decodeFee(log, 'aggregate_fee');
    case RECOVERY_CHANGED:
      return decodeRecovery(log);
    default:
      return null;
  }
}

function decodeRegistered({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): Registered | null {
  if (topics.length !== 3 || !isAddressTopic(topics[2])) return null;
  const words = readWords(data, REGISTERED_HEADS + 1 + V3_TOKENS_MAX * TOKEN_WORDS) ?? [];
  const [offset, swapFee = 0n] = words;
  const [count = 0n, ...tokenWords] = words.slice(REGISTERED_HEADS);
  if (offset !== BigInt(REGISTERED_HEADS) * WORD_BYTES || swapFee > ONE) return null;
  if (count < 2n || BigInt(tokenWords.length) !== count * BigInt(TOKEN_WORDS)) return null;
  const tokens = toAddresses(tokenWords.filter((_word, index) => index % TOKEN_WORDS === 0));
  return tokens === null ? null : { kind: 'registered', tokens, swapFee };
}

function decodeSwap({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): V3Swap | null {
  const [, , tokenIn, tokenOut] = topics;
  if (topics.length !== 4 || !isAddressTopic(tokenIn) || !isAddressTopic(tokenOut)) return null;
  // The vault packs each balance into 128 bits, so a larger amount is not from a real swap.
  if (!loadData(data, 4) || ![0, 1, 3].every(isUint128) || uintAt(2) > ONE) return null;
  const [amountIn, amountOut, swapFee, feeAmount] = [uintAt(0), uintAt(1), uintAt(2), uintAt(3)];
  const tokens = { tokenIn: addressOfTopic(tokenIn), tokenOut: addressOfTopic(tokenOut) };
  return { kind: 'swap', ...tokens, amountIn, amountOut, swapFee, feeAmount };
}

function decodeLiquidity(
  { topics, data }: Pick<ChainLog, 'topics' | 'data'>,
  kind: LiquidityChange['kind'],
): LiquidityChange | null {
  const provider = topics[2];
  if (topics.length !== 4 || !isAddressTopic(provider)) return null;
  // The supply comes before the two lists.
  const [amounts = [], fees = []] = readArrays(data, 2, 1, V3_TOKENS_MAX, { scalarsFirst: 1 }) ?? [];
  if (amounts.length < 2 || amounts.length !== fees.length) return null;
  return { kind, provider: addressOfTopic(provider), amounts, fees };
}

function decodeFee(
  { topics, data }: Pick<ChainLog, 'topics' | 'data'>,
  kind: FeeChange['kind'],
): FeeChange | null {
  if (topics.length !== 2 || !loadData(data, 1) || uintAt(0) > ONE) return null;
  return { kind, fee: uintAt(0) };
}

function decodeRecovery({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): RecoveryChange | null {
  if (topics.length !== 2 || !loadData(data, 1) || uintAt(0) > 1n) return null;
  return { kind: 'recovery', isOn: uintAt(0) === 1n };
}
