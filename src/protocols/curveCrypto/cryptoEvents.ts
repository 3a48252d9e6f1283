/**
 * Decodes the events of CryptoSwap pools of two and three tokens. Contracts from before NG name no price scale, and
 * no fee of a swap. Since 2025 the contracts of two tokens index no address, so it is the first word of the data.
 */
import type { ChainLog } from '../../domain/block';
import type { Hex } from '../../domain/hex';
import { readWords, toAddresses } from '../abiArrays';

/** An event with the names of the contracts. Amounts are raw units; tokens are indexes in the pool's list. */
export type CryptoEvent =
  | {
      readonly kind: 'exchange';
      readonly owner: Hex;
      readonly soldId: number;
      readonly sold: bigint;
      readonly boughtId: number;
      readonly bought: bigint;
      /** Kept by the pool, in the token that goes out. Null if the event does not name it. */
      readonly fee: bigint | null;
      /** Null if the event does not name it. */
      readonly priceScale: bigint | null;
    }
  | {
      readonly kind: 'add';
      readonly owner: Hex;
      readonly amounts: readonly bigint[];
      /** LP tokens that were not minted. */
      readonly fee: bigint;
      /** LP tokens afterwards. */
      readonly supply: bigint;
      readonly priceScale: bigint | null;
    }
  | {
      readonly kind: 'remove';
      readonly owner: Hex;
      readonly amounts: readonly bigint[];
      /** LP tokens afterwards. */
      readonly supply: bigint;
    }
  | {
      readonly kind: 'remove_one';
      readonly owner: Hex;
      readonly shares: bigint;
      readonly token: number;
      readonly amount: bigint;
      readonly priceScale: bigint | null;
    }
  | {
      readonly kind: 'imbalance';
      readonly owner: Hex;
      readonly shares: bigint;
      readonly amounts: readonly bigint[];
      readonly priceScale: bigint;
    }
  /** The owner's fees go out as tokens, or are minted as LP tokens. */
  | { readonly kind: 'claim'; readonly amounts: readonly bigint[]; readonly minted: bigint }
  /** Tokens without an owner, for the pool's next changes of the price scale. The LP tokens behind them are in no event. */
  | { readonly kind: 'donate' }
  | {
      readonly kind: 'ramp';
      readonly fromAmp: bigint;
      readonly toAmp: bigint;
      readonly fromGamma: bigint;
      readonly toGamma: bigint;
      readonly fromTime: bigint;
      readonly toTime: bigint;
    }
  | { readonly kind: 'fees'; readonly midFee: bigint; readonly outFee: bigint; readonly feeGamma: bigint };

/**
 * Topics of NewParameters: mid_fee, out_fee, fee_gamma, allowed_extra_profit, adjustment_step, ma_time. Seven words end with
 * the time of a second moving average. Contracts from before NG have the same topic, and begin with admin_fee.
 */
export const CRYPTO_FEE_TOPICS: readonly Hex[] = [
  '0xa32137411fc7c20db359079cd84af0e2cad58cd7a182a8a5e23e08e554e88bf0',
  '0x1c65bbdc939f346e5d6f0bde1f072819947438d4fc7b182cc59c2f6dc5504087',
];

/** Above each time of a moving average, and below each adjustment_step. */
const MA_TIME_MAX = 1_000_000n;

type Layout = readonly [kind: CryptoEvent['kind'] | 'stop', words: number, tokens?: 2 | 3];
/**
 * What each topic means, and the number of words of its address, if it has one, and data. The order of the words is that of
 * the contracts.
 */
const LAYOUTS: ReadonlyMap<Hex, Layout> = new Map<Hex, Layout>([
  // TokenExchange(address, sold_id, tokens_sold, bought_id, tokens_bought, fee, price_scale)
  ['0x143f1f8e861fbdeddd5b46e844b7d3ac7b86a122f36e8c463859ee6811b1f29c', ['exchange', 7]],
  // The same without fee and price_scale
  ['0xb2e76ae99761dc136e598d4a629bb347eccb9532a5f8bbd72e18467c3c34cc98', ['exchange', 5]],
  // AddLiquidity(address, amounts, fee, token_supply, price_scale)
  ['0x7196cbf63df1f2ec20638e683ebe51d18260be510592ee1e2efe3f3cfd4c33e9', ['add', 6, 2]],
  ['0xe1b60455bd9e33720b547f60e4e0cfbf1252d0f2ee0147d53029945f39fe3c1a', ['add', 7, 3]],
  // The same without price_scale
  ['0x540ab385f9b5d450a27404172caade516b3ba3f4be88239ac56a2ad1de2a1f5a', ['add', 5, 2]],
  ['0x96b486485420b963edd3fdec0b0195730035600feb7de6f544383d7950fa97ee', ['add', 6, 3]],
  // RemoveLiquidity(address, amounts, token_supply)
  ['0xdd3c0336a16f1b64f172b7bb0dad5b2b3c7c76f91e8c4aafd6aae60dce800153', ['remove', 4, 2]],
  ['0xd6cc314a0b1e3b2579f8e64248e82434072e8271290eef8ad0886709304195f5', ['remove', 5, 3]],
  // RemoveLiquidityOne(address, token_amount, coin_index, coin_amount, approx_fee, price_scale)
  ['0xe200e24d4a4c7cd367dd9befe394dc8a14e6d58c88ff5e2f512d65a9e0aa9c5c', ['remove_one', 6]],
  // The same without approx_fee and price_scale
  ['0x5ad056f2e28a8cec232015406b843668c1e36cda598127ec3b8c59b8c72773a0', ['remove_one', 4]],
  // RemoveLiquidityImbalance(address, lp_token_amount, amounts, approx_fee, price_scale)
  ['0x22f9ea3e7d7b113cb423896d2e121f96a66c17814ac7f63d69096769fa3e2a55', ['imbalance', 6, 2]],
  // ClaimAdminFee(address, LP tokens) and ClaimAdminFee(address, amounts)
  ['0x6059a38198b1dc42b3791087d1ff0fbd72b3179553c25f678cd246f52ffaaf59', ['claim', 2]],
  ['0x3bbd5f2f4711532d6e9ee88dfdf2f1468e9a4c3ae5e14d2e1a67bf4242d008d0', ['claim', 3, 2]],
  ['0x5ebe66c628d0969a211b99673a322baa5fc8a62baf286c175e254daef76f5bcc', ['claim', 4, 3]],
  // Donation(address, amounts)
  ['0xc05458c16b884817a70d3d18223db5fe4adb4cb541a5573bef0daae7a6f20542', ['donate', 3, 2]],
  // RampAgamma(initial_A, future_A, initial_gamma, future_gamma, initial_time, future_time)
  ['0xe35f0559b0642164e286b30df2077ec3a05426617a25db7578fd20ba39a6cd05', ['ramp', 6]],
  // StopRampA(current_A, current_gamma, time)
  ['0x5f0e7fba3d100c9e19446e1c92fe436f0a9a22fe99669360e4fdd6d3de2fc284', ['stop', 3]],
  ...CRYPTO_FEE_TOPICS.map((topic, index): [Hex, Layout] => [topic, ['fees', 6 + index]]),
]);

/** topic0 of all events that a pool emits and that are decoded here. */
export const CRYPTO_TOPICS: ReadonlySet<Hex> = new Set(LAYOUTS.keys());
const WORDS_MAX = 7;
const TOKENS_MAX = 3n;

/** Null for another topic or a malformed layout. */
export function decodeCryptoEvent({ topics, data }: Pick<ChainLog, 'topics' | 'data'>): CryptoEvent | null {
  const [topic, indexed, tooMany] = topics;
  const layout = topic === undefined ? undefined : LAYOUTS.get(topic);
  const inData = readWords(data, WORDS_MAX);
  if (layout === undefined || inData === null || tooMany !== undefined) return null;
  const words = indexed === undefined ? inData : [BigInt(indexed), ...inData];
  const [kind, count, tokens = 0] = layout;
  if (words.length !== count) return null;
  const at = (index: number): bigint => words[index] ?? 0n;
  if (kind === 'ramp' || kind === 'stop' || kind === 'fees') return decodeSetting(kind, at);
  const owner = toAddresses(words.slice(0, 1))?.[0];
  return owner === undefined ? null : decodeMove(kind, owner, words, tokens);
}

type Words = (index: number) => bigint;

function decodeSetting(kind: 'ramp' | 'stop' | 'fees', at: Words): CryptoEvent {
  if (kind === 'fees') {
    const first = at(5) < MA_TIME_MAX ? 0 : 1;
    return { kind, midFee: at(first), outFee: at(first + 1), feeGamma: at(first + 2) };
  }
  if (kind === 'stop') {
    const stopped = { fromAmp: at(0), toAmp: at(0), fromGamma: at(1), toGamma: at(1) };
    return { kind: 'ramp', ...stopped, fromTime: at(2), toTime: at(2) };
  }
  const [amps, gammas] = [
    { fromAmp: at(0), toAmp: at(1) },
    { fromGamma: at(2), toGamma: at(3) },
  ];
  return { kind, ...amps, ...gammas, fromTime: at(4), toTime: at(5) };
}

/** An event with an address, which is its first word. `tokens` is the number of the amounts after it. */
function decodeMove(
  kind: Exclude<Layout[0], 'ramp' | 'stop' | 'fees'>,
  owner: Hex,
  words: readonly bigint[],
  tokens: number,
): CryptoEvent | null {
  const at: Words = (index) => words[index] ?? 0n;
  const amounts = Array.from({ length: tokens }, (_, index) => at(1 + index));
  const after: Words = (index) => at(1 + tokens + index);
  switch (kind) {
    case 'exchange': {
      if (at(1) >= TOKENS_MAX || at(3) >= TOKENS_MAX || at(1) === at(3)) return null;
      const [soldId, boughtId] = [Number(at(1)), Number(at(3))];
      const named = { fee: words[5] ?? null, priceScale: words[6] ?? null };
      return { kind, owner, soldId, sold: at(2), boughtId, bought: at(4), ...named };
    }
    case 'add':
      return { kind, owner, amounts, fee: after(0), supply: after(1), priceScale: words[3 + tokens] ?? null };
    case 'remove':
      return { kind, owner, amounts, supply: after(0) };
    case 'remove_one':
      if (at(2) >= TOKENS_MAX) return null;
      return {
        kind,
        owner,
        shares: at(1),
        token: Number(at(2)),
        amount: at(3),
        priceScale: words[5] ?? null,
      };
    case 'imbalance':
      return { kind, owner, shares: at(1), amounts: [at(2), at(3)], priceScale: at(5) };
    case 'claim':
      return { kind, amounts, minted: tokens === 0 ? at(1) : 0n };
    case 'donate':
      return { kind };
  }
}
