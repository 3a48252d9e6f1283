/**
 * Deploys the development chain's contracts and opens its pools: Uniswap's own V2 and V3 code, a second V2
 * exchange with 29 basis points, Multicall3 at its canonical address, and the planned tokens. The same plan
 * on an equal node gives the same blocks. One account deploys everything, so all addresses are known in
 * advance.
 */
import { getCreateAddress } from 'ethers';

import { numberToHex, type Hex } from '../../domain/hex';
import { AppError } from '../../errors';
import {
  ADDRESS_CONSTRUCTOR,
  ERC20,
  THREE_ADDRESSES_CONSTRUCTOR,
  TOKEN_CONSTRUCTOR,
  TWO_ADDRESSES_CONSTRUCTOR,
  V3_FACTORY,
  encodeCall,
  encodeDeploy,
  toAddress,
} from '../abi';
import { openBuilder, type Builder } from '../node/builder';
import { toNumber, type DevRpc } from '../node/devRpc';
import { giveHoldings } from './giveHoldings';
import { openPoolCall, readPools } from './openPools';
import { readOwnBytecode, readOwnRuntimeBytecode, readPackageBytecode } from '../packageFiles';
import { rawAmount } from '../trading/priceMath';
import type { TokenContract, World, WorldToken } from './world';
import { FULL_PLAN, ODDITIES, WRAPPED_NATIVE, type TokenPlan, type WorldPlan } from './worldPlan';
import { describeChain } from './describeChain';

export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

const DEPLOY_GAS = 7_000_000;
const TOKEN_GAS = 2_500_000;
const CALL_GAS = 300_000;
/** Native tokens of the deployer, enough to wrap the whole supply. */
const DEPLOYER_BALANCE = 10n ** 36n;

/** Builds the world on a fresh node that mines on request. Throws if a transaction fails. */
export async function buildWorld(rpc: DevRpc, plan: WorldPlan = FULL_PLAN): Promise<World> {
  const accounts = await listAccounts(rpc);
  const [deployer] = accounts;
  if (deployer === undefined) throw new AppError('node_failed', 'the node has no unlocked account');
  await rpc.call('anvil_setCode', [MULTICALL3, readOwnRuntimeBytecode('DevMulticall3')]);
  await rpc.call('anvil_setBalance', [deployer, numberToHex(DEPLOYER_BALANCE)]);
  const chainId = toNumber(await rpc.call('eth_chainId'));
  const builder = await openBuilder(rpc, accounts);

  const contracts = await deployContracts(builder, deployer, plan);
  const tokens = await deployTokens(builder, deployer, contracts, plan);
  const deployed = { ...contracts, tokens };
  for (const pool of plan.pools) {
    const { data, gas } = openPoolCall(deployed, pool);
    await builder.send(deployer, contracts.trader, data, gas);
  }
  await builder.finish();

  const pools = await readPools(rpc, deployed, plan.pools);
  const chainDescription = describeChain(contracts, tokens, plan, { chainId, url: rpc.url });
  const world: World = {
    chainDescription,
    accounts,
    ...contracts,
    multicall3: MULTICALL3,
    tokens,
    pools,
    poolPlans: plan.pools,
    launches: plan.launches,
    holders: plan.holders,
  };
  await giveHoldings(builder, world, plan.holders);
  return world;
}

async function listAccounts(rpc: DevRpc): Promise<Hex[]> {
  const answer = await rpc.call('eth_accounts');
  if (!Array.isArray(answer)) throw new AppError('node_failed', 'the answer of eth_accounts is not a list');
  return answer.map(toAddress);
}

/** The addresses that later steps of the build need. */
type Contracts = Pick<World, 'trader' | 'wrappedNative' | 'v2' | 'v3'>;

async function deployContracts(builder: Builder, deployer: Hex, plan: WorldPlan): Promise<Contracts> {
  const deploy = (data: Hex): Promise<Hex> => deployContract(builder, deployer, data, DEPLOY_GAS);
  const wrappedNative = await deploy(encodeDeploy(readOwnBytecode('WrappedNative')));
  const trader = await deploy(encodeDeploy(readOwnBytecode('DevTrader')));
  const deployExchange = async (
    factoryCode: Hex,
    routerCode: Hex,
  ): Promise<{ factory: Hex; router: Hex }> => {
    const factory = await deploy(encodeDeploy(factoryCode, ADDRESS_CONSTRUCTOR, [deployer]));
    const router = await deploy(
      encodeDeploy(routerCode, TWO_ADDRESSES_CONSTRUCTOR, [factory, wrappedNative]),
    );
    return { factory, router };
  };
  const v2 = [
    await deployExchange(
      readPackageBytecode('@uniswap/v2-core/build/UniswapV2Factory.json'),
      readPackageBytecode('@uniswap/v2-periphery/build/UniswapV2Router02.json'),
    ),
    await deployExchange(readOwnBytecode('PulseDevFactory'), readOwnBytecode('PulseDevRouter02')),
  ];
  const v3 = await deployV3(builder, deployer, wrappedNative);
  const wrappedPlan = plan.tokens.find(({ key }) => key === WRAPPED_NATIVE);
  if (wrappedPlan === undefined) throw new AppError('internal', `the plan has no token ${WRAPPED_NATIVE}`);
  const supply = rawAmount(wrappedPlan, wrappedPlan.supplyUsd);
  await builder.send(deployer, wrappedNative, encodeCall(ERC20, 'deposit', []), CALL_GAS, supply);
  await builder.send(deployer, wrappedNative, encodeCall(ERC20, 'transfer', [trader, supply]), CALL_GAS);
  return { trader, wrappedNative, v2, v3 };
}

async function deployV3(builder: Builder, deployer: Hex, wrappedNative: Hex): Promise<World['v3']> {
  const readArtifact = (path: string): Hex => readPackageBytecode(`@uniswap/${path}`);
  const factoryCode = readArtifact('v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json');
  const routerCode = readArtifact('v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json');
  const managerName = 'NonfungiblePositionManager';
  const managerCode = readArtifact(`v3-periphery/artifacts/contracts/${managerName}.sol/${managerName}.json`);
  const factory = await deployContract(builder, deployer, factoryCode, DEPLOY_GAS);
  const enableCall = encodeCall(V3_FACTORY, 'enableFeeAmount', [100, 1]);
  await builder.send(deployer, factory, enableCall, CALL_GAS);
  const routerData = encodeDeploy(routerCode, TWO_ADDRESSES_CONSTRUCTOR, [factory, wrappedNative]);
  const router = await deployContract(builder, deployer, routerData, DEPLOY_GAS);
  // The third argument is the image descriptor of positions, which no transaction here calls.
  const managerArguments = [factory, wrappedNative, wrappedNative];
  const managerData = encodeDeploy(managerCode, THREE_ADDRESSES_CONSTRUCTOR, managerArguments);
  const positionManager = await deployContract(builder, deployer, managerData, DEPLOY_GAS);
  return { factory, router, positionManager };
}

async function deployContract(builder: Builder, from: Hex, data: Hex, gas: number): Promise<Hex> {
  const nonce = await builder.send(from, null, data, gas);
  return toAddress(getCreateAddress({ from, nonce }));
}

async function deployTokens(
  builder: Builder,
  deployer: Hex,
  contracts: Contracts,
  plan: WorldPlan,
): Promise<WorldToken[]> {
  const tokens: WorldToken[] = [];
  for (const token of plan.tokens) {
    const { key, decimals, priceUsd, volatility } = token;
    const address =
      key === WRAPPED_NATIVE
        ? contracts.wrappedNative
        : await deployContract(builder, deployer, tokenData(token, contracts.trader), TOKEN_GAS);
    tokens.push({ key, address, contract: contractOf(token), decimals, priceUsd, volatility });
  }
  return tokens;
}

function tokenData(token: TokenPlan, owner: Hex): Hex {
  const { oddity, taxBps = 0, name, symbol } = token;
  const supply = rawAmount(token, token.supplyUsd);
  const decimals = token.declaredDecimals ?? BigInt(token.decimals);
  const taxOrOddity = oddity === undefined ? taxBps : ODDITIES[oddity];
  return encodeDeploy(readOwnBytecode(contractOf(token)), TOKEN_CONSTRUCTOR, [
    name,
    symbol,
    decimals,
    supply,
    owner,
    taxOrOddity,
  ]);
}

function contractOf({ key, oddity }: TokenPlan): TokenContract {
  if (key === WRAPPED_NATIVE) return 'WrappedNative';
  return oddity === undefined ? 'DevToken' : 'OddToken';
}
