/**
 * A buffer of the vault of Balancer V3 as a pool of two tokens: the asset, then its ERC-4626 wrapper. The vault exchanges them
 * at the rate that the wrapper names, without a fee. An exchange beyond the balances goes through the wrapper itself. The price
 * is the rate of the last exchange, which the params of the state keep as a fraction, in the place of a curve (vaultState.ts).
 */
import { wholeTokens } from '../../domain/amounts';
import type { ChainLog } from '../../domain/block';
import { callData, readUint, type ContractCall } from '../../domain/contractCall';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { scalePrice } from '../../domain/prices';
import { toAddresses } from '../abiArrays';
import { emptyManyTokenState } from '../manyTokenPool';
import type {
  ManyTokenCreation,
  ManyTokenProtocol,
  ManyTokenState,
  ManyTokenStep,
  StoredManyTokenState,
} from '../manyTokenProtocol';
import { decodeBufferEvent, type BufferEvent } from './bufferEvents';
import { idOfV3Pool, toStableState, V3_BUFFER, v3PoolOfId, withV3Terms } from './vaultState';

const ADDRESS_BITS = 2n ** 160n - 1n;
const ADDRESS_DIGITS = 40;

type Terms = Pick<ManyTokenState, 'params'>;
/** Raw units of the asset for raw units of the wrapper. */
type Rate = readonly [underlying: bigint, wrapped: bigint];

/**
 * The address of the buffer of a wrapper, or the wrapper of a buffer. A buffer has no contract, and the address of its wrapper
 * is that of a token. So all bits of the address are flipped, which names no contract.
 */
export function flipAddress(address: Hex): Hex {
  return `0x${(BigInt(address) ^ ADDRESS_BITS).toString(16).padStart(ADDRESS_DIGITS, '0')}`;
}

/** The call for the asset of a buffer, which never changes (VaultExtension.sol). The answer is 0 without such a buffer. */
export function bufferAssetCall(vault: Hex, poolId: Hex): ContractCall {
  return { to: vault, data: callData('getERC4626BufferAsset(address)', flipAddress(v3PoolOfId(poolId))) };
}

/** The asset by the answer to `bufferAssetCall`. Null if the vault has no such buffer. */
export function readBufferAsset(answer: Hex | null | undefined): Hex | null {
  const word = readUint(answer) ?? 0n;
  return word === 0n ? null : (toAddresses([word])?.[0] ?? null);
}

/**
 * The first event of a buffer adds all that the buffer holds (VaultAdmin.sol, initializeBuffer). Null for a later event. The
 * node tells the tokens.
 */
export function readBufferCreation(log: ChainLog): ManyTokenCreation | null {
  const event = decodeBufferEvent(log);
  if (event?.kind !== 'mint') return null;
  const { wrapper, underlying, wrapped, balances } = event;
  if (underlying !== balances[0] || wrapped !== balances[1]) return null;
  const empty = { ...emptyManyTokenState(idOfV3Pool(flipAddress(wrapper))), balances: [0n, 0n] };
  return { state: withV3Terms(empty, { status: V3_BUFFER }), swapFee: 0n };
}

/** The buffer with its tokens, by the answer to `bufferAssetCall`. Null if the vault has no such buffer. */
export function withBufferFacts(
  state: ManyTokenState,
  answer: Hex | null | undefined,
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const asset = readBufferAsset(answer);
  if (asset === null) return null;
  const tokens = [asset, flipAddress(v3PoolOfId(state.poolId))];
  return { state: withV3Terms({ ...state, tokens }, { status: V3_BUFFER }), poolType: POOL_STABLE };
}

/** Wraps are no trades: they make neither swaps nor volume. */
export function readBufferLog(state: ManyTokenState, log: ChainLog): ManyTokenStep | 'malformed' {
  const event = decodeBufferEvent(log);
  if (event === null) return 'malformed';
  const { kind, underlying, wrapped, balances } = event;
  const rate = followRate(rateOf(state), event) ?? [];
  const after = withV3Terms({ ...state, balances }, { status: V3_BUFFER, curve: rate });
  const isExchange = kind === 'wrap' || kind === 'unwrap';
  if (isExchange) return { after, kind: 'collect', isStored: true, swap: null, liquidity: null };
  const amounts = state.tokens.map((token, index) => ({ token, amount: index === 0 ? underlying : wrapped }));
  const liquidity = { kind, owner: ZERO_ADDRESS, shares: null, amounts };
  return { after, kind, isStored: true, swap: null, liquidity };
}

/** The rate of the last exchange. Null before the first one. */
function rateOf(state: Terms): Rate | null {
  const [underlying = 0n, wrapped = 0n] = toStableState(state).params;
  return underlying > 0n && wrapped > 0n ? [underlying, wrapped] : null;
}

/**
 * The rate after an event: of all rates that explain its amounts, the one nearest to the rate before. So an exchange of a few
 * raw units, which rounding distorts, does not move the rate.
 */
function followRate(before: Rate | null, { kind, underlying, wrapped }: BufferEvent): Rate | null {
  if (kind === 'mint' || kind === 'burn' || underlying <= 2n || wrapped <= 2n) return before;
  // The vault asks the wrapper about one raw unit less or more, takes one more unit of its answer, and the wrapper rounds once,
  // all in favour of the buffer (Vault.sol, _wrapWithBuffer and _unwrapWithBuffer).
  const isWrap = kind === 'wrap';
  const low: Rate = isWrap ? [underlying - 2n, wrapped + 2n] : [underlying + 1n, wrapped - 1n];
  const high: Rate = isWrap ? [underlying - 1n, wrapped + 1n] : [underlying + 2n, wrapped - 2n];
  if (before === null) return isWrap ? high : low;
  if (isBelow(before, low)) return low;
  return isBelow(high, before) ? high : before;
}

function isBelow(a: Rate, b: Rate): boolean {
  return a[0] * b[1] < b[0] * a[1];
}

/** Price of token i, raw token j per raw token i. Null before the first exchange. */
export function bufferPrice(state: Terms, i: number, j: number): number | null {
  const rate = rateOf(state);
  if (rate === null || i === j) return null;
  const [underlying, wrapped] = [Number(rate[0]), Number(rate[1])];
  return i === 0 ? wrapped / underlying : underlying / wrapped;
}

/** The depth is that of a constant product pool with the same balances. The buffer pays out more at its price. */
export function bufferLegState(
  state: StoredManyTokenState,
  i: number,
  j: number,
  [decimalsI, decimalsJ]: readonly [number, number],
): ReturnType<ManyTokenProtocol['legState']> {
  const raw = bufferPrice(state, i, j);
  if (raw === null) return { price: 0, liquidity: 0, reserve0: 0, reserve1: 0 };
  const reserve0 = wholeTokens(state.balances[i] ?? 0n, decimalsI);
  const reserve1 = wholeTokens(state.balances[j] ?? 0n, decimalsJ);
  const liquidity = Math.sqrt(reserve0) * Math.sqrt(reserve1);
  return { price: scalePrice(raw, decimalsI, decimalsJ, true), liquidity, reserve0, reserve1 };
}
