/** Encodes the events of simulated StableSwap pools by hand. */
import type { Hex } from '../../../../src/domain/hex';
import { ampAt, type CurveBooks } from '../../../support/oracle/curveContract';
import { arrayData, dataOf, topicOf, type Draft } from '../../../support/plainLogs';

/** An event, and the pool after it. */
export type CurveAction = { readonly after: CurveBooks } & (
  | {
      readonly kind: 'exchange';
      readonly i: number;
      readonly j: number;
      readonly sold: bigint;
      readonly bought: bigint;
      /** The amounts that the event names, if it names the lent token. Those above are in the Transfers of the lending token. */
      readonly lent: { readonly sold: bigint; readonly bought: bigint } | null;
    }
  | {
      readonly kind: 'add' | 'remove' | 'imbalance';
      readonly amounts: readonly bigint[];
      readonly fees: readonly bigint[];
      readonly invariant: bigint;
    }
  | { readonly kind: 'one'; readonly coin: number; readonly shares: bigint; readonly amount: bigint }
  | { readonly kind: 'ramp' | 'stop' | 'fees' | 'kill' | 'donate' }
);

/** Topics of arrays with two, three and four coins, and of StableSwap-NG. */
const LIQUIDITY = {
  add: [
    '0x26f55a85081d24974e85c6c00045d0f0453991e95873f52bff0d21af4079a768',
    '0x423f6495a08fc652425cf4ed0d1f9e37e571d9b9529b1c1c23cce780b2e7df0d',
    '0x3f1915775e0c9a38a57a7bb7f1f9005f486fb904e1f84aa215364d567319a58d',
    '0x189c623b666b1b45b83d7178f39b8c087cb09774317ca2f53c2d3c3726f222a2',
  ],
  remove: [
    '0x7c363854ccf79623411f8995b362bce5eddff18c927edc6f5dbbb5e05819a82c',
    '0xa49d4cf02656aebf8c771f5a8585638a2a15ee6c97cf7205d4208ed7c1df252d',
    '0x9878ca375e106f2a43c3b599fc624568131c4c9a4ba66a14563715763be9d59d',
    '0x347ad828e58cbe534d8f6b67985d791360756b18f0d95fd9f197a66cc46480ea',
  ],
  imbalance: [
    '0x2b5508378d7e19e0d5fa338419034731416c4f5b219a10379956f764317fd47e',
    '0x173599dbf9c6ca6f7c3b590df07ae98a45d74ff54065505141e7de6c46a624c2',
    '0xb964b72f73f5ef5bf0fdc559b2fab9a7b12a39e47817a547f1f0aee47febd602',
    '0x3631c28b1f9dd213e0319fb167b554d76b6c283a41143eb400a0d1adb1af1755',
  ],
} as const satisfies Record<string, readonly Hex[]>;
/** With ids without a sign, as in Pancake's port, and with int128 ids. */
const EXCHANGE = [
  '0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98',
  '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140',
] as const satisfies readonly Hex[];
/** TokenExchangeUnderlying. */
const EXCHANGE_LENT: Hex = '0xd013ca23e77a65003c2c659c5442c00c805371b7fc1ebd4c206c41d1536bd90b';
/** RemoveLiquidityOne with three words, with a coin and the supply, and with two words. */
const ONE: Hex = '0x5ad056f2e28a8cec232015406b843668c1e36cda598127ec3b8c59b8c72773a0';
const ONE_NG: Hex = '0x6f48129db1f37ccb9cc5dd7e119cb32750cabdf75b48375d730d26ce3659bbe1';
const ONE_FIRST: Hex = '0x9e96dd3b997a2a257eec4df9bb6eaf626e206df5f543bd963682d143300be310';
const NEW_FEE: Hex = '0xbe12859b636aed607d5230b2cc2711f68d70e51060e6cca1f575ef5d2fcc95d1';
const NEW_PARAMETERS: Hex = '0x752a27d1853eb7af3ee4ff764f2c4a51619386af721573dd3809e929c39db99e';
const APPLY_FEES: Hex = '0x750d10a7f37466ce785ee6bcb604aac543358db42afbcc332a3c12a49c80bf6d';
const APPLY_FEE: Hex = '0xa8715770654f54603947addf38c689adbd7182e21673b28bcf306a957aaba215';
const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const RAMP: Hex = '0xa2b71ec6df949300b59aab36b55e189697b750119dd349fcfa8c0f779e83c254';
const STOP: Hex = '0x46e22fb3709ad289f62ce63d469248536dbc78d82b84a3d7e74ad606dc201938';
const DONATE: Hex = '0x2c7203581ca666b8c5094c11c03f0b19b3750234a9d281bcbc88a260bcb006de';
const KILL: Hex = '0xbe26733c2bf6ff3ea5ba8cfe744422bd49052ff9ed5685c9e81e6f9321dbaddd';
const UNKILL: Hex = '0x061284ffa2814ace135f62907c78a7cff0f070efe7e6a0a42740ea1da2c8bdc8';

type Kind = CurveBooks['kind'];

/** Topic of TokenExchange. */
export const exchangeTopic = (kind: Kind): Hex => EXCHANGE[kind === 'pancake' ? 0 : 1];

/** `tokens`: those of the pool. */
export function curveLogs(
  address: Hex,
  trader: Hex,
  tokens: readonly Hex[],
  action: CurveAction,
): readonly Draft[] {
  const { after } = action;
  const isNg = after.kind === 'ng';
  const setting = (topic: Hex, ...values: bigint[]): Draft => ({
    address,
    topics: [topic],
    data: dataOf(...values),
  });
  switch (action.kind) {
    case 'exchange':
      return exchangeLogs(address, trader, tokens, action);
    case 'one':
      return removeOneLogs(address, trader, tokens, action);
    case 'add':
    case 'remove':
    case 'imbalance': {
      const { amounts, fees, invariant, kind } = action;
      const last = [...(kind === 'remove' ? [] : [invariant]), after.supply];
      const data = isNg ? arrayData([amounts, fees], ...last) : dataOf(...amounts, ...fees, ...last);
      const topic = LIQUIDITY[kind][isNg ? 3 : after.balances.length - 2]!;
      return [{ address, topics: [topic, trader], data }];
    }
    case 'ramp':
      return [setting(RAMP, ...after.ramp)];
    case 'stop':
      return [setting(STOP, ampAt(after, after.ramp[3]), after.ramp[3])];
    case 'fees':
      if (isNg) return [setting(APPLY_FEES, after.fee, after.offpeg)];
      if (after.kind === 'fixed') return [setting(NEW_PARAMETERS, after.ramp[1], after.fee, after.adminFee)];
      return after.kind === 'pancake' || after.kind === 'registry'
        ? [setting(NEW_FEE, after.fee, after.adminFee)]
        : [setting(APPLY_FEE, after.fee)];
    case 'kill':
      return [setting(after.isKilled ? KILL : UNKILL)];
    case 'donate':
      return [setting(DONATE)];
  }
}

/** A pool of a lending token mints what it gets, and redeems what it pays, if the event names the lent token. */
function exchangeLogs(
  address: Hex,
  trader: Hex,
  [token]: readonly Hex[],
  { i, j, sold, bought, lent, after }: Extract<CurveAction, { kind: 'exchange' }>,
): readonly Draft[] {
  const named = lent ?? { sold, bought };
  const data = dataOf(BigInt(i), named.sold, BigInt(j), named.bought);
  if (lent === null) return [{ address, topics: [exchangeTopic(after.kind), trader], data }];
  const [self, nobody] = [topicOf(address), topicOf(0n)];
  const minted = { address: token!, topics: [TRANSFER, nobody, self], data: dataOf(sold) };
  const redeemed = { address: token!, topics: [TRANSFER, self, nobody], data: dataOf(bought) };
  return [
    ...(i === 0 ? [minted] : []),
    ...(j === 0 ? [redeemed] : []),
    { address, topics: [EXCHANGE_LENT, trader], data },
  ];
}

/** The older contracts of Curve do not name the coin. Only its Transfer to the provider tells it. */
function removeOneLogs(
  address: Hex,
  trader: Hex,
  tokens: readonly Hex[],
  { coin, shares, amount, after }: Extract<CurveAction, { kind: 'one' }>,
): readonly Draft[] {
  const own = (topic: Hex, ...values: bigint[]): Draft => ({
    address,
    topics: [topic, trader],
    data: dataOf(...values),
  });
  if (after.kind === 'pancake') return [own(ONE, BigInt(coin), shares, amount)];
  if (after.kind === 'ng') return [own(ONE_NG, BigInt(coin), shares, amount, after.supply)];
  const topics = [TRANSFER, topicOf(address), trader];
  const paid = { address: tokens[coin]!, topics, data: dataOf(amount) };
  return [
    paid,
    after.kind === 'registry' ? own(ONE_FIRST, shares, amount) : own(ONE, shares, amount, after.supply),
  ];
}
