/** Bonding curves on a local node: a factory, its curves, a DEX and a trader. See BondingCurve.sol. */
import { join } from 'node:path';

import { Interface } from 'ethers';

import { ADDRESS_CONSTRUCTOR, readContract } from '../../../src/dev/abi';
import type { DevRpc } from '../../../src/dev/node/devRpc';
import { readPackageBytecode } from '../../../src/dev/packageFiles';
import type { Hex } from '../../../src/domain/hex';
import { openPoolMarket, type MarketPool, type MarketToken, type PoolMarket } from '../protocols/poolMarket';

const FACTORY = new Interface(['function getPair(address, address) view returns (address)']);
export const CURVE_PAIR = new Interface([
  'function reserve0() view returns (uint256)',
  'function reserve1() view returns (uint256)',
  'function amountOut(bool isToken0In, uint256 amountIn) view returns (uint256)',
]);
export const CURVE_TRADER = new Interface([
  'function launch(address factory, address token, address asset, uint256 virtual0, uint256 virtual1, uint256 kept, uint256 firstBuy)',
  'function buy(address factory, address pair, uint256 amountIn)',
  'function buyLast(address factory, address pair, uint256 amountIn, address dex)',
  'function sell(address factory, address pair, uint256 amountIn)',
  'function give(address token, address to, uint256 amount)',
]);
/** Whole tokens that a curve sells, and that it keeps for the pool of the DEX. */
const SOLD = 875_000_000n;
const KEPT = 125_000_000n;

/** token0 is the new token, token1 the asset that pays for it. */
export interface BondingMarket extends PoolMarket {
  readonly factory: Hex;
  /** The factory of a Uniswap V2, where curves end. */
  readonly dex: Hex;
  /** `virtualAssets`: whole assets in the first virtual reserves. */
  launch(token: MarketToken, asset: MarketToken, virtualAssets: bigint): Promise<MarketPool>;
}

export async function deployBondingCurves(rpc: DevRpc, decimals: readonly number[]): Promise<BondingMarket> {
  const market = await openPoolMarket(rpc, join(__dirname, 'BondingCurve.sol'), decimals);
  const { codeOf, deploy, add, mine, owner, trader } = market;
  const factory = deploy(codeOf('Factory'));
  const dex = deploy(
    readPackageBytecode('@uniswap/v2-core/build/UniswapV2Factory.json'),
    ADDRESS_CONSTRUCTOR,
    [owner],
  );
  await mine();
  return {
    ...market,
    factory,
    dex,
    async launch(token0, token1, virtualAssets) {
      const [sold, kept] = [SOLD, KEPT].map((tokens) => tokens * 10n ** BigInt(token0.decimals));
      const assets = virtualAssets * 10n ** BigInt(token1.decimals);
      const values = [factory, token0.address, token1.address, sold, assets, kept, assets / 100n];
      add(trader, CURVE_TRADER, 'launch', values);
      await mine();
      const found = await readContract(rpc, FACTORY, factory, 'getPair', [token0.address, token1.address]);
      return { address: String(found).toLowerCase() as Hex, token0, token1 };
    },
  };
}
