/** Liquidity Book on a local node: factories of both versions, pools and a trader. See LiquidityBook.sol. */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { encodeCall } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import {
  openPoolMarket,
  readBigInt,
  type MarketPool,
  type MarketToken,
  type PoolMarket,
} from '../protocols/poolMarket';

const FACTORY = new Interface([
  'constructor(bool second)',
  'function createLBPair(address tokenX, address tokenY, uint24 activeId, uint16 binStep)',
  'function getLBPairInformation(address, address, uint256) view returns (uint16, address pair, bool, bool)',
]);
export const BOOK_PAIR = new Interface([
  'event Swap(address indexed sender, address indexed to, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24 volatilityAccumulator, bytes32 totalFees, bytes32 protocolFees)',
  'function setStaticFeeParameters(uint16, uint16, uint16, uint16, uint24, uint16, uint24)',
  'function collectProtocolFees()',
  'function balanceOf(address owner, uint256 id) view returns (uint256)',
  'function burn(address from, address to, uint256[] ids, uint256[] shares) returns (bytes32[])',
  'function getActiveId() view returns (uint24)',
  'function getReserves() view returns (uint128 x, uint128 y)',
  'function getBin(uint24 id) view returns (uint128 x, uint128 y)',
  'function getPriceFromId(uint24 id) view returns (uint256)',
  'function getSwapOut(uint128 amountIn, bool swapForY) view returns (uint256 left, uint256 out, uint256 fee)',
]);
export const BOOK_TRADER = new Interface([
  'function pay(address token, address to, uint256 amount)',
  'function swap(address pair, bool swapForY, uint256 amountIn)',
  'function mint(address pair, uint256[] ids, tuple(uint256 x, uint256 y)[] amounts)',
  'function burn(address pair, uint256[] ids, uint256 part)',
  'function send(address pair, address to, uint256[] ids, uint256[] shares)',
  'function flash(address pair, tuple(uint256 x, uint256 y) amounts)',
]);

/** The id of the bin with the price 1, raw tokenY per raw tokenX. */
const MIDDLE_ID = 2 ** 23;
/** One unit of binStep is 1/10,000. */
const BASIS_POINTS = 10_000;
/** A deposit into 81 bins takes more gas than the other calls. */
const GAS = { call: 15_000_000, creation: 6_000_000 };

/** token0 is tokenX, whatever its address. */
export interface BookPool extends MarketPool {
  readonly binStep: number;
}

export interface BookMarket extends PoolMarket {
  /** Factories of versions 2.1 and 2.2. */
  readonly factories: readonly [Hex, Hex];
  /** The first active bin is the one whose price is nearest to 1 in whole tokens. */
  createPair(isSecond: boolean, tokenX: MarketToken, tokenY: MarketToken, binStep: number): Promise<BookPool>;
}

export async function deployBook(rpc: DevRpc, decimals: readonly number[]): Promise<BookMarket> {
  const market = await openPoolMarket(rpc, join(__dirname, 'LiquidityBook.sol'), decimals, GAS);
  const { codeOf, deploy, add, mine } = market;
  const [first, second] = [false, true].map((isSecond) => deploy(codeOf('Factory'), FACTORY, [isSecond])) as [
    Hex,
    Hex,
  ];
  await mine();
  return {
    ...market,
    factories: [first, second],
    async createPair(isSecond, tokenX, tokenY, binStep) {
      const factory = isSecond ? second : first;
      const digits = tokenY.decimals - tokenX.decimals;
      const id = MIDDLE_ID + Math.round((digits * Math.log(10)) / Math.log1p(binStep / BASIS_POINTS));
      add(factory, FACTORY, 'createLBPair', [tokenX.address, tokenY.address, id, binStep]);
      await mine();
      const data = encodeCall(FACTORY, 'getLBPairInformation', [tokenX.address, tokenY.address, binStep]);
      const answer = String(await rpc.call('eth_call', [{ to: factory, data }, 'latest']));
      // The address is in the last 40 digits of the second word.
      const address = `0x${answer.slice(2 + 64 + 24, 2 + 128)}` as Hex;
      return { address, token0: tokenX, token1: tokenY, binStep };
    },
  };
}

/** Both words of an answer. */
export async function readBoth(
  rpc: DevRpc,
  { address: to }: BookPool,
  name: string,
  values: readonly unknown[] = [],
): Promise<[bigint, bigint]> {
  const data = encodeCall(BOOK_PAIR, name, values);
  const answer = await rpc.call('eth_call', [{ to, data }, 'latest']);
  const [first, second] = BOOK_PAIR.decodeFunctionResult(name, String(answer)) as unknown as [bigint, bigint];
  return [BigInt(first), BigInt(second)];
}

/** What the pool would pay an owner for all shares of these bins now. */
export async function askWithdrawal(
  rpc: DevRpc,
  { address: to }: BookPool,
  owner: Hex,
  ids: readonly number[],
): Promise<[bigint, bigint]> {
  const shares = await Promise.all(ids.map((id) => readBigInt(rpc, BOOK_PAIR, to, 'balanceOf', [owner, id])));
  const data = encodeCall(BOOK_PAIR, 'burn', [owner, owner, ids, shares]);
  const answer = String(await rpc.call('eth_call', [{ from: owner, to, data }, 'latest']));
  const [paid] = BOOK_PAIR.decodeFunctionResult('burn', answer) as unknown as [readonly Hex[]];
  const sum = (part: (packed: bigint) => bigint): bigint =>
    paid.reduce((all, packed) => all + part(BigInt(packed)), 0n);
  return [sum((packed) => BigInt.asUintN(128, packed)), sum((packed) => packed >> 128n)];
}

/** Bins that are read on each side of the active one. */
const SIDE = 130;

/** What the contract's bins pay out while the price moves by 2 %, as liquidity, and by 50 %. */
export async function depthOfBins(rpc: DevRpc, pool: BookPool) {
  const active = Number(await readBigInt(rpc, BOOK_PAIR, pool.address, 'getActiveId'));
  const offsets = Array.from({ length: 2 * SIDE + 1 }, (_, index) => index - SIDE);
  const bins = await Promise.all(
    offsets.map(async (offset) => ({
      offset,
      reserves: await readBoth(rpc, pool, 'getBin', [active + offset]),
    })),
  );
  const paid = (side: 0 | 1, factor: number): number =>
    bins
      .filter(({ offset }) => {
        const ratio = (1 + pool.binStep / BASIS_POINTS) ** offset;
        return side === 0 ? ratio >= 1 && ratio <= factor : ratio <= 1 && ratio >= factor;
      })
      .reduce((sum, { reserves }) => sum + Number(reserves[side]), 0);
  const price = Number(await readBigInt(rpc, BOOK_PAIR, pool.address, 'getPriceFromId', [active])) / 2 ** 128;
  const up = (paid(0, 1.02) * Math.sqrt(price)) / (1 - 1 / Math.sqrt(1.02));
  const down = paid(1, 0.98) / Math.sqrt(price) / (1 - Math.sqrt(0.98));
  return { price, liquidity: Math.min(up, down), near0: paid(0, 1.5), near1: paid(1, 0.5) };
}
