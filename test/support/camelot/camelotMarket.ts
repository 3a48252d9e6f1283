/** Camelot V2 on a local node: a factory, its pairs and a trader. See Camelot.sol. */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { ADDRESS_CONSTRUCTOR, readContract } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import {
  inOrder,
  openPoolMarket,
  type MarketPool,
  type MarketToken,
  type PoolMarket,
} from '../protocols/poolMarket';

/** Gets the owner's share of the fees. */
export const CAMELOT_OWNER: Hex = `0x${'fa'.repeat(20)}`;
/** Gets a share of the fees of the swaps that name it. */
export const CAMELOT_REFERRER: Hex = `0x${'fe'.repeat(20)}`;
/** The referrer's share of a fee, in units of 1/100,000. */
export const REFERRER_SHARE = 20_000n;

const FACTORY = new Interface([
  'function createPair(address a, address b)',
  'function setReferrerFeeShare(address referrer, uint256 share)',
  'function getPair(address, address) view returns (address)',
]);
export const CAMELOT_PAIR = new Interface([
  'function setFeePercent(uint16 fee0, uint16 fee1)',
  'function setStableSwap(bool stable)',
  'function token0FeePercent() view returns (uint16)',
  'function token1FeePercent() view returns (uint16)',
  'function getAmountOut(uint256 amountIn, address tokenIn) view returns (uint256)',
]);
export const CAMELOT_TRADER = new Interface([
  'function swap(address pair, bool zeroForOne, uint256 amountIn, address referrer)',
  'function mint(address pair, uint256 amount0, uint256 amount1)',
  'function burn(address pair, uint256 share, uint256 shares)',
]);

export interface CamelotMarket extends PoolMarket {
  readonly factory: Hex;
  createPair(a: MarketToken, b: MarketToken): Promise<MarketPool>;
}

export async function deployCamelot(
  rpc: DevRpc,
  decimals: readonly number[],
  firstAccount = 0,
): Promise<CamelotMarket> {
  const market = await openPoolMarket(rpc, join(__dirname, 'Camelot.sol'), decimals, undefined, firstAccount);
  const { codeOf, deploy, add, mine } = market;
  const factory = deploy(codeOf('Factory'), ADDRESS_CONSTRUCTOR, [CAMELOT_OWNER]);
  add(factory, FACTORY, 'setReferrerFeeShare', [CAMELOT_REFERRER, REFERRER_SHARE]);
  await mine();
  return {
    ...market,
    factory,
    async createPair(a, b) {
      const [token0, token1] = inOrder(a, b);
      add(factory, FACTORY, 'createPair', [a.address, b.address]);
      await mine();
      const found = await readContract(rpc, FACTORY, factory, 'getPair', [token0.address, token1.address]);
      return { address: String(found).toLowerCase() as Hex, token0, token1 };
    },
  };
}
