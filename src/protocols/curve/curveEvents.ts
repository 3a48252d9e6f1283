/**
 * Decodes the events of StableSwap pools. StableSwap-NG has dynamic arrays, the other contracts have arrays of a fixed size.
 * Coin ids of Pancake's port have no sign. All share the topics of RampA and StopRampA.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { readArrays, readWords } from '../abiArrays';
import { addressOfTopic, isAddressTopic } from '../words';

/** An event with the names of the contracts. Amounts are raw units; coins are indexes in the pool's list. */
export type CurveEvent =
  | {
      /**
       * `exchange_underlying`: id 0 is the first coin of a meta pool, and a larger one is a coin of its base pool. In a pool of
       * lending tokens, the ids are those of the lent tokens.
       */
      readonly kind: 'exchange' | 'exchange_underlying';
      readonly owner: Hex;
      readonly soldId: number;
      readonly sold: bigint;
      /** The amount of the lent token, if the pool minted the sold lending tokens. */
      readonly lent?: bigint;
      readonly boughtId: number;
      readonly bought: bigint;
    }
  | {
      readonly kind: 'add' | 'remove' | 'imbalance';
      readonly owner: Hex;
      readonly amounts: readonly bigint[];
      /** Empty for the first deposit, and for every balanced withdrawal, of StableSwap-NG. */
      readonly fees: readonly bigint[];
      /** 0n in `remove`, which has none. */
      readonly invariant: bigint;
      /** LP tokens afterwards. */
      readonly supply: bigint;
    }
  | {
      readonly kind: 'remove_one';
      readonly owner: Hex;
      /** Null if the event does not name it. */
      readonly coin: number | null;
      readonly shares: bigint;
      readonly amount: bigint;
    }
  | {
      readonly kind: 'ramp';
      readonly fromAmp: bigint;
      readonly toAmp: bigint;
      readonly fromTime: bigint;
      readonly toTime: bigint;
    }
  | {
      readonly kind: 'fees';
      readonly fee: bigint;
      readonly adminFee?: bigint;
      readonly offpeg?: bigint;
      readonly amp?: bigint;
    }
  | { readonly kind: 'kill'; readonly isKilled: boolean }
  /** DonateAdminFees: the owner's fees become balances, and no event tells their amounts. */
  | { readonly kind: 'donate' };

/** MAX_COINS of StableSwap-NG. */
export const COINS_MAX = 8;

type LiquidityKind = 'add' | 'remove' | 'imbalance';
/** Topics of AddLiquidity, RemoveLiquidity and RemoveLiquidityImbalance, for 2 to 4 coins and for arrays (0). */
const LIQUIDITY: ReadonlyMap<Hex, readonly [kind: LiquidityKind, coins: number]> = new Map([
  ['0x26f55a85081d24974e85c6c00045d0f0453991e95873f52bff0d21af4079a768', ['add', 2]],
  ['0x423f6495a08fc652425cf4ed0d1f9e37e571d9b9529b1c1c23cce780b2e7df0d', ['add', 3]],
  ['0x3f1915775e0c9a38a57a7bb7f1f9005f486fb904e1f84aa215364d567319a58d', ['add', 4]],
  ['0x189c623b666b1b45b83d7178f39b8c087cb09774317ca2f53c2d3c3726f222a2', ['add', 0]],
  ['0x7c363854ccf79623411f8995b362bce5eddff18c927edc6f5dbbb5e05819a82c', ['remove', 2]],
  ['0xa49d4cf02656aebf8c771f5a8585638a2a15ee6c97cf7205d4208ed7c1df252d', ['remove', 3]],
  ['0x9878ca375e106f2a43c3b599fc624568131c4c9a4ba66a14563715763be9d59d', ['remove', 4]],
  ['0x347ad828e58cbe534d8f6b67985d791360756b18f0d95fd9f197a66cc46480ea', ['remove', 0]],
  ['0x2b5508378d7e19e0d5fa338419034731416c4f5b219a10379956f764317fd47e', ['imbalance', 2]],
  ['0x173599dbf9c6ca6f7c3b590df07ae98a45d74ff54065505141e7de6c46a624c2', ['imbalance', 3]],
  ['0xb964b72f73f5ef5bf0fdc559b2fab9a7b12a39e47817a547f1f0aee47febd602', ['imbalance', 4]],
  ['0x3631c28b1f9dd213e0319fb167b554d76b6c283a41143eb400a0d1adb1af1755', ['imbalance', 0]],
] as const);

/** Topic of TokenExchange(address indexed buyer, uint256 sold_id, uint256, uint256 bought_id, uint256). */
const EXCHANGE: Hex = '0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98';
/** The same with int128 ids. */
const EXCHANGE_NG: Hex = '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140';
/** The same of a meta pool for a swap with a coin of its base pool. */
const EXCHANGE_UNDERLYING: Hex = '0xd013ca23e77a65003c2c659c5442c00c805371b7fc1ebd4c206c41d1536bd90b';
/**
 * Topic of RemoveLiquidityOne(address indexed, uint256 index, uint256 LP tokens, uint256 coins) of Pancake's port, and of
 * RemoveLiquidityOne(address indexed, uint256 LP tokens, uint256 coins, uint256 supply) of Curve's contracts.
 */
const REMOVE_ONE: Hex = '0x5ad056f2e28a8cec232015406b843668c1e36cda598127ec3b8c59b8c72773a0';
/** Topic of RemoveLiquidityOne(address indexed, int128 id, uint256 LP tokens, uint256 coins, uint256 supply). */
const REMOVE_ONE_NG: Hex = '0x6f48129db1f37ccb9cc5dd7e119cb32750cabdf75b48375d730d26ce3659bbe1';
/** Topic of RemoveLiquidityOne(address indexed, uint256 LP tokens, uint256 coins) of Curve's first contracts. */
const REMOVE_ONE_FIRST: Hex = '0x9e96dd3b997a2a257eec4df9bb6eaf626e206df5f543bd963682d143300be310';
/** Topic of RampA(uint256 old_A, uint256 new_A, uint256 initial_time, uint256 future_time). */
const RAMP: Hex = '0xa2b71ec6df949300b59aab36b55e189697b750119dd349fcfa8c0f779e83c254';
/** Topic of StopRampA(uint256 A, uint256 t). */
const STOP_RAMP: Hex = '0x46e22fb3709ad289f62ce63d469248536dbc78d82b84a3d7e74ad606dc201938';
/** Topic of NewFee(uint256 fee, uint256 admin_fee). */
const NEW_FEE: Hex = '0xbe12859b636aed607d5230b2cc2711f68d70e51060e6cca1f575ef5d2fcc95d1';
/** Topic of NewFee(uint256 fee, uint256 admin_fee, uint256 offpeg_fee_multiplier). */
const NEW_THREE_FEES: Hex = '0xcfca96e0fef3432146913b2a5a2268a55d3f475fe057e7ffde1082b77693f4f3';
/** Topic of ApplyNewFee(uint256 fee, uint256 offpeg_fee_multiplier). */
const APPLY_NEW_FEE: Hex = '0x750d10a7f37466ce785ee6bcb604aac543358db42afbcc332a3c12a49c80bf6d';
/** Topic of ApplyNewFee(uint256 fee). */
const APPLY_ONE_FEE: Hex = '0xa8715770654f54603947addf38c689adbd7182e21673b28bcf306a957aaba215';
/** Topic of NewParameters(uint256 A, uint256 fee, uint256 admin_fee) of the contracts without a ramp. */
const NEW_PARAMETERS: Hex = '0x752a27d1853eb7af3ee4ff764f2c4a51619386af721573dd3809e929c39db99e';
/** Topics of DonateAdminFees(), Kill() and Unkill(). */
const DONATE: Hex = '0x2c7203581ca666b8c5094c11c03f0b19b3750234a9d281bcbc88a260bcb006de';
const KILL: Hex = '0xbe26733c2bf6ff3ea5ba8cfe744422bd49052ff9ed5685c9e81e6f9321dbaddd';
const UNKILL: Hex = '0x061284ffa2814ace135f62907c78a7cff0f070efe7e6a0a42740ea1da2c8bdc8';

/** topic0 of all events that a pool emits and that are decoded here. */
export const CURVE_TOPICS: ReadonlySet<Hex> = new Set([
  ...LIQUIDITY.keys(),
  ...[EXCHANGE, EXCHANGE_NG, EXCHANGE_UNDERLYING, REMOVE_ONE, REMOVE_ONE_NG, REMOVE_ONE_FIRST],
  ...[RAMP, STOP_RAMP, NEW_FEE, NEW_THREE_FEES, APPLY_NEW_FEE, APPLY_ONE_FEE],
  ...[NEW_PARAMETERS, DONATE, KILL, UNKILL],
]);

/** Topics of the events with a new fee. */
export const CURVE_FEE_TOPICS: readonly Hex[] = [
  ...[NEW_FEE, NEW_THREE_FEES, APPLY_NEW_FEE, APPLY_ONE_FEE, NEW_PARAMETERS],
];

/** Null for another topic or a malformed layout. `isPancake`: the log is of Pancake's port. */
export function decodeCurveEvent(
  { topics, data }: Pick<ChainLog, 'topics' | 'data'>,
  isPancake = true,
): CurveEvent | null {
  const [topic, provider] = topics;
  if (topic === undefined) return null;
  if (topics.length === 1) return decodeSetting(topic, data);
  if (topics.length !== 2 || !isAddressTopic(provider)) return null;
  const owner = addressOfTopic(provider);
  const shape = LIQUIDITY.get(topic);
  if (shape !== undefined) {
    const [kind, coins] = shape;
    const parts =
      coins === 0 ? readDynamic(data, kind !== 'remove') : readFixed(data, coins, kind !== 'remove');
    return parts === null ? null : { kind, owner, ...parts };
  }
  return decodeExchange(topic, owner, data) ?? decodeRemoveOne(topic, owner, data, isPancake);
}

/** TokenExchange names coins by their ids. */
const EXCHANGES: ReadonlyMap<Hex, 'exchange' | 'exchange_underlying'> = new Map([
  [EXCHANGE, 'exchange'],
  [EXCHANGE_NG, 'exchange'],
  [EXCHANGE_UNDERLYING, 'exchange_underlying'],
] as const);

function decodeExchange(topic: Hex, owner: Hex, data: Hex): CurveEvent | null {
  const kind = EXCHANGES.get(topic);
  const words = readWords(data, 4);
  const [soldId = 0n, sold = 0n, boughtId = 0n, bought = 0n] = words ?? [];
  if (kind === undefined || words?.length !== 4) return null;
  if (!isCoin(soldId) || !isCoin(boughtId) || soldId === boughtId) return null;
  return { kind, owner, soldId: Number(soldId), sold, boughtId: Number(boughtId), bought };
}

/** Number of words in RemoveLiquidityOne. */
const REMOVE_WORDS: ReadonlyMap<Hex, number> = new Map([
  [REMOVE_ONE, 3],
  [REMOVE_ONE_NG, 4],
  [REMOVE_ONE_FIRST, 2],
]);

function decodeRemoveOne(topic: Hex, owner: Hex, data: Hex, isPancake: boolean): CurveEvent | null {
  const words = readWords(data, 4);
  const [first = 0n, second = 0n, third = 0n] = words ?? [];
  if (words === null || words.length !== REMOVE_WORDS.get(topic)) return null;
  if (topic === REMOVE_ONE_FIRST || (topic === REMOVE_ONE && !isPancake))
    return { kind: 'remove_one', owner, coin: null, shares: first, amount: second };
  if (!isCoin(first)) return null;
  return { kind: 'remove_one', owner, coin: Number(first), shares: second, amount: third };
}

/** Negative ids are far above the limit. */
function isCoin(word: bigint): boolean {
  return word < BigInt(COINS_MAX);
}

function decodeSetting(topic: Hex, data: Hex): CurveEvent | null {
  const words = readWords(data, 4);
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = words ?? [];
  // A log with another number of words is malformed.
  switch (`${topic} ${words?.length}`) {
    case `${RAMP} 4`:
      return { kind: 'ramp', fromAmp: first, toAmp: second, fromTime: third, toTime: fourth };
    case `${STOP_RAMP} 2`:
      return { kind: 'ramp', fromAmp: first, toAmp: first, fromTime: second, toTime: second };
    case `${NEW_FEE} 2`:
      return { kind: 'fees', fee: first, adminFee: second };
    case `${NEW_THREE_FEES} 3`:
      return { kind: 'fees', fee: first, adminFee: second, offpeg: third };
    case `${NEW_PARAMETERS} 3`:
      return { kind: 'fees', amp: first, fee: second, adminFee: third };
    case `${APPLY_ONE_FEE} 1`:
      return { kind: 'fees', fee: first };
    case `${APPLY_NEW_FEE} 2`:
      return { kind: 'fees', fee: first, offpeg: second };
    case `${DONATE} 0`:
      return { kind: 'donate' };
    case `${KILL} 0`:
    case `${UNKILL} 0`:
      return { kind: 'kill', isKilled: topic === KILL };
    default:
      return null;
  }
}

type Parts = Pick<Extract<CurveEvent, { kind: LiquidityKind }>, 'amounts' | 'fees' | 'invariant' | 'supply'>;

function readFixed(data: Hex, coins: number, hasInvariant: boolean): Parts | null {
  const size = 2 * coins + (hasInvariant ? 2 : 1);
  const words = readWords(data, size);
  if (words?.length !== size) return null;
  return {
    amounts: words.slice(0, coins),
    fees: words.slice(coins, 2 * coins),
    invariant: hasInvariant ? (words[2 * coins] ?? 0n) : 0n,
    supply: words[size - 1] ?? 0n,
  };
}

/** The head of the data has the offsets of both arrays, then the invariant, if the event has one, and the supply. */
function readDynamic(data: Hex, hasInvariant: boolean): Parts | null {
  const scalars = hasInvariant ? 2 : 1;
  const arrays = readArrays(data, 2, scalars);
  // Two offsets, the scalars, and two arrays, each with its length.
  const words = readWords(data, 4 + scalars + 2 * COINS_MAX);
  const [amounts = [], fees = []] = arrays ?? [];
  if (arrays === null || words === null || amounts.length > COINS_MAX) return null;
  if (fees.length !== 0 && fees.length !== amounts.length) return null;
  return { amounts, fees, invariant: hasInvariant ? (words[2] ?? 0n) : 0n, supply: words[1 + scalars] ?? 0n };
}
