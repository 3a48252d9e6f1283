/**
 * What the node is asked about StableSwap pools. The factory of StableSwap-NG names the coins of a pool. Pancake's factory
 * names the pool of its coins. A pool that is itself the `factory` of its DEX, as that of PulseX, needs no confirmation.
 */
import { callData, readAddress, readNumber, readUint, type ContractCall } from '../../domain/contractCall';
import { ZERO_ADDRESS, type Hex } from '../../domain/hex';
import { POOL_STABLE, type PoolType } from '../../domain/pools/poolShape';
import { readArrays, toAddresses } from '../abiArrays';
import { DOUBTS } from '../doubts';
import { withDoubts } from '../manyTokenPool';
import type { ManyTokenState } from '../manyTokenProtocol';
import { COINS_MAX } from './curveEvents';
import { lacksCurveBooks, shareOf, toCurvePool, withCurveFacts, withCurvePool } from './curveParams';

/** Pools of Pancake's port have two or three coins. */
const PANCAKE_COINS = 3;
/** The asset type of StableSwap-NG for a coin with a fixed rate, whose balances change only with events. */
const PLAIN_ASSET = 0n;
/** The address that stands for the native coin in a list of coins. */
const NATIVE_COIN: Hex = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee';

export function curvePoolOfId(poolId: Hex): Hex {
  return `0x${poolId.slice(-40)}`;
}

/** The questions of the protocol. */
export const curveQuestions = {
  tokenCalls,
  readTokens,
  factCalls,
  withFacts,
  bookCalls,
  withBooks,
  lacksBooks: lacksCurveBooks,
  readsBooksAtCreation: true,
  // Each event makes its pool known.
  feeCall: () => null,
  readFee: () => null,
};

function tokenCalls(factory: Hex, poolId: Hex): ContractCall[] {
  const pool = curvePoolOfId(poolId);
  const coins = Array.from({ length: PANCAKE_COINS }, (_, index) => callData('coins(uint256)', index));
  return [
    { to: factory, data: callData('get_coins(address)', pool) },
    ...coins.map((data) => ({ to: pool, data })),
  ];
}

function readTokens([listed, ...coins]: readonly (Hex | null)[]): readonly Hex[] | null {
  const words = listed == null ? [] : (readArrays(listed, 1)?.[0] ?? []);
  if (words.length >= 2 && words.length <= COINS_MAX) return toAddresses(words);
  const tokens = coins.map((coin) => readAddress(coin)).filter((coin) => coin !== null);
  return tokens.length < 2 ? null : tokens;
}

function factCalls(factory: Hex, { poolId, tokens }: ManyTokenState): ContractCall[] {
  const pool = curvePoolOfId(poolId);
  const [first = ZERO_ADDRESS, second = ZERO_ADDRESS, third = ZERO_ADDRESS] = tokens;
  const confirm = callData('stableSwapPairInfo(address,address,address)', first, second, third);
  const rates = tokens.map((_token, index) => ({ to: pool, data: callData('RATES(uint256)', index) }));
  return [
    { to: factory, data: callData('get_pool_asset_types(address)', pool) },
    { to: pool, data: callData('stored_rates()') },
    { to: factory, data: confirm },
    { to: pool, data: callData('token()') },
    ...rates,
  ];
}

/**
 * A pool of StableSwap-NG whose coins have rates of their own (asset types 1 and 3), change the balances without an event (2),
 * or belong to another pool, has no price: no event tells these changes.
 */
function withFacts(
  state: ManyTokenState,
  [types, stored, confirmed, token, ...ratesOf]: readonly (Hex | null)[],
  factory: Hex,
): { readonly state: ManyTokenState; readonly poolType: PoolType } | null {
  const pool = curvePoolOfId(state.poolId);
  const count = state.tokens.length;
  const listOf = (answer: Hex | null | undefined): readonly bigint[] =>
    answer == null ? [] : (readArrays(answer, 1)?.[0] ?? []);
  const [assetTypes, storedRates] = [listOf(types), listOf(stored)];
  const listed = (after: ManyTokenState, isFollowed: boolean): ReturnType<typeof withFacts> => ({
    state: isFollowed ? after : withDoubts(after, DOUBTS.unfollowed),
    poolType: POOL_STABLE,
  });
  if (count >= 2 && storedRates.length === count && assetTypes.length > 0) {
    const isPlain = assetTypes.length === count && assetTypes.every((type) => type === PLAIN_ASSET);
    return listed(withCurveFacts(state, { kind: 'ng', rates: storedRates, share: pool }), isPlain);
  }
  const rates = ratesOf.map(readNumber);
  const known = rates.filter((rate) => rate !== null);
  const share = readAddress(token);
  // A pool that is itself the factory needs no confirmation.
  const isConfirmed = pool === factory || readAddress(confirmed) === pool;
  if (count < 2 || !isConfirmed || share === null || known.length !== count) return null;
  const isPlain = !state.tokens.includes(NATIVE_COIN);
  return listed(withCurveFacts(state, { kind: 'pancake', rates: known, share }), isPlain);
}

function bookCalls(_factory: Hex, state: ManyTokenState): ContractCall[] {
  const to = curvePoolOfId(state.poolId);
  const isNg = toCurvePool(state)?.kind === 'ng';
  const ramp = ['initial_A()', 'future_A()', 'initial_A_time()', 'future_A_time()'];
  const names = [...ramp, 'fee()', 'admin_fee()', isNg ? 'offpeg_fee_multiplier()' : 'is_killed()'];
  return [
    ...names.map((name) => ({ to, data: callData(name) })),
    { to: shareOf(state), data: callData('totalSupply()') },
    ...state.tokens.map((_token, index) => ({ to, data: callData('balances(uint256)', index) })),
  ];
}

/** All answers or none. A pool that is created in this block starts empty; its other values are those at the block's end. */
function withBooks(
  state: ManyTokenState,
  answers: readonly (Hex | null)[],
  isCreation: boolean,
): ManyTokenState {
  const pool = toCurvePool(state);
  const values = answers.map((answer) => readUint(answer)).filter((value) => value !== null);
  const [fromAmp = 0n, toAmp = 0n, fromTime = 0n, toTime = 0n] = values;
  // The last setting is offpeg_fee_multiplier() of StableSwap-NG, otherwise is_killed().
  const [fee = 0n, adminFee = 0n, lastSetting = 0n, supply = 0n, ...balances] = values.slice(4);
  if (pool === null || !lacksCurveBooks(state) || balances.length !== state.tokens.length) return state;
  const isNg = pool.kind === 'ng';
  return withCurvePool(state, {
    ...pool,
    isKilled: !isNg && lastSetting > 0n,
    ramp: { fromAmp, toAmp, fromTime, toTime },
    fee,
    adminFee,
    offpeg: isNg ? lastSetting : 0n,
    supply: isCreation ? 0n : supply,
    balances: isCreation ? pool.balances : balances,
  });
}
