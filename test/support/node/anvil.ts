/**
 * A real Anvil node with a small set of tokens and pools. Tests mine each block, set its time and force reorgs.
 * worldActions.ts makes the transactions.
 */
import { Interface, id } from 'ethers';

import { ERC20, TRADER, encodeCall, readContract } from '../../../src/dev/abi';
import { startAnvil } from '../../../src/dev/node/anvil';
import {
  expectAllSucceeded,
  openBlockMaker,
  type BlockMaker,
  type DevTransaction,
} from '../../../src/dev/node/blockMaker';
import { buildWorld } from '../../../src/dev/world/buildWorld';
import {
  field,
  getBlockHead,
  openDevRpc,
  toHexData,
  type BlockHead,
  type DevRpc,
} from '../../../src/dev/node/devRpc';
import type { World, WorldPool, WorldToken } from '../../../src/dev/world/world';
import { numberToHex, type Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import type { WorldPlan } from '../../../src/dev/world/worldPlan';
import { TEST_WORLD_PLAN } from '../worlds/testWorldPlan';
import { makeWorldActions, routerOf, type WorldActions } from '../worlds/worldActions';

export interface TestAnvil {
  readonly url: string;
  readonly wsUrl: string;
  readonly pid: number;
  readonly rpc: DevRpc;
  /** Closes `rpc`, ends the process and removes its files. */
  stop(): Promise<void>;
}

/** A block to mine: its transactions in order, and its time in unix seconds (default: ten seconds after the parent). */
interface BlockPlan {
  readonly transactions?: readonly DevTransaction[];
  readonly timestamp?: number;
}

export interface TestWorld extends World, WorldActions {
  /**
   * Unlocked accounts with tokens. They have approved the routers and the position manager, and the routers also for LP
   * tokens.
   */
  readonly users: readonly Hex[];
  /** Mines one block. Throws if one of the transactions fails. */
  mineBlock(timestamp?: number, transactions?: readonly DevTransaction[]): Promise<BlockHead>;
  /** Replaces the newest `depth` blocks with other blocks, whose number may differ. Returns the new heads. */
  reorg(depth: number, blocks: readonly BlockPlan[]): Promise<BlockHead[]>;
  /** Ids of the position manager's positions that the block minted, in order. */
  listMintedPositions(block: number): Promise<bigint[]>;
  readReserves(pool: WorldPool): Promise<{ reserve0: bigint; reserve1: bigint }>;
  readSlot0(pool: WorldPool): Promise<{ sqrtPriceX96: bigint; tick: number; liquidity: bigint }>;
  /** Balance of a token, or of a V2 pool's LP token. */
  balanceOf(token: WorldToken | WorldPool, owner: Hex): Promise<bigint>;
  /** The pool at this index of the plan. Throws if the plan has no such pool. */
  pool(index: number): WorldPool;
}

const GENESIS_TIMESTAMP = 1_700_000_000;
const BLOCK_SECONDS = 10;
const USERS = 3;
const UINT256_MAX = 2n ** 256n - 1n;

/** A Transfer event of ERC-721 has three indexed words. */
const NFT_TRANSFER = id('Transfer(address,address,uint256)');
const PAIR = new Interface(['function getReserves() view returns (uint112,uint112,uint32)']);
const POOL = new Interface([
  'function slot0() view returns (uint160,int24,uint16,uint16,uint16,uint8,bool)',
  'function liquidity() view returns (uint128)',
]);

/** Starts a node for one test file, without automatic mining. The default hardfork is shanghai. */
export async function startTestAnvil(
  extraArguments: readonly string[] = [],
  hardfork = 'shanghai',
): Promise<TestAnvil> {
  const log = createLog('silent', false);
  const node = await startAnvil({ log, timestamp: GENESIS_TIMESTAMP, extraArguments, hardfork });
  const rpc = openDevRpc(node.url);
  const stop = async (): Promise<void> => {
    await rpc.close();
    await node.stop();
  };
  return { url: node.url, wsUrl: node.wsUrl, pid: node.pid, rpc, stop };
}

/**
 * Deploys a world, by default the small one of testWorldPlan.ts: two V2 exchanges (30 and 29 bps), V3, and users with
 * tokens.
 */
export async function deployTestWorld(
  anvil: TestAnvil,
  plan: WorldPlan = TEST_WORLD_PLAN,
): Promise<TestWorld> {
  const { rpc } = anvil;
  const world = await buildWorld(rpc, plan);
  const maker = await openBlockMaker(rpc, world.accounts);
  const users = world.accounts.slice(1, 1 + USERS);
  await fundUsers(rpc, maker, world, users);
  const mineBlock = async (plan: BlockPlan): Promise<BlockHead> => {
    const parent = await getBlockHead(rpc);
    for (const transaction of plan.transactions ?? []) maker.add(transaction);
    await maker.mine(plan.timestamp ?? parent.timestamp + BLOCK_SECONDS);
    await expectAllSucceeded(rpc, parent.number + 1);
    return getBlockHead(rpc, parent.number + 1);
  };
  return {
    ...world,
    ...makeWorldActions(world, users[0] ?? world.trader),
    ...makeReaders(rpc, world),
    users,
    mineBlock: (timestamp, transactions = []) => {
      return mineBlock(timestamp === undefined ? { transactions } : { transactions, timestamp });
    },
    reorg: async (depth, blocks) => {
      const fork = (await getBlockHead(rpc)).number - depth;
      await rpc.call('anvil_rollback', [depth]);
      await maker.reset();
      if ((await getBlockHead(rpc)).number !== fork) throw new Error(`the node did not drop ${depth} blocks`);
      const heads: BlockHead[] = [];
      for (const plan of blocks) heads.push(await mineBlock(plan));
      return heads;
    },
  };
}

/** Sends tokens to the users, and makes the approvals that the actions need. */
async function fundUsers(rpc: DevRpc, maker: BlockMaker, world: World, users: readonly Hex[]): Promise<void> {
  const deployer = users[0];
  if (deployer === undefined) throw new Error('the test world has no accounts');
  const start = await getBlockHead(rpc);
  const approve = (from: Hex, to: Hex, spender: Hex): void => {
    maker.add({
      from,
      to,
      gas: 100_000,
      data: encodeCall(ERC20, 'approve', [spender, UINT256_MAX]),
    });
  };
  const spenders = [
    ...world.v2.map((exchange) => exchange.router),
    world.v3.router,
    world.v3.positionManager,
  ];
  for (const token of world.tokens) {
    // Each user gets a thousandth of the trader's balance.
    const amount = (await readBalance(rpc, token.address, world.trader)) / 1_000n;
    for (const to of users) {
      const data = encodeCall(TRADER, 'give', [token.address, to, amount]);
      maker.add({ from: deployer, to: world.trader, gas: 200_000, data });
    }
    for (const user of users) for (const spender of spenders) approve(user, token.address, spender);
  }
  for (const pool of world.pools.filter(({ protocol }) => protocol === 'uniswap_v2')) {
    for (const user of users) approve(user, pool.address, routerOf(world, pool));
  }
  await maker.mine(start.timestamp + BLOCK_SECONDS);
  await expectAllSucceeded(rpc, start.number + 1);
}

function makeReaders(
  rpc: DevRpc,
  world: World,
): Pick<TestWorld, 'listMintedPositions' | 'readReserves' | 'readSlot0' | 'balanceOf' | 'pool'> {
  const callView = async (to: Hex, contract: Interface, name: string): Promise<readonly unknown[]> => {
    const data = encodeCall(contract, name, []);
    const answer = toHexData(await rpc.call('eth_call', [{ to, data }, 'latest']));
    return contract.decodeFunctionResult(name, answer).toArray();
  };
  return {
    listMintedPositions: async (block) => {
      const logs = (await readReceipts(rpc, block)).flatMap((receipt) => asList(field(receipt, 'logs')));
      return logs.flatMap((log) => {
        const topics = asList(field(log, 'topics'));
        const isMint = topics.length === 4 && topics[0] === NFT_TRANSFER && BigInt(String(topics[1])) === 0n;
        return isMint && field(log, 'address') === world.v3.positionManager
          ? [BigInt(String(topics[3]))]
          : [];
      });
    },
    readReserves: async (pool) => {
      const [reserve0, reserve1] = await callView(pool.address, PAIR, 'getReserves');
      return { reserve0: BigInt(String(reserve0)), reserve1: BigInt(String(reserve1)) };
    },
    readSlot0: async (pool) => {
      const [sqrtPriceX96, tick] = await callView(pool.address, POOL, 'slot0');
      const [liquidity] = await callView(pool.address, POOL, 'liquidity');
      return {
        sqrtPriceX96: BigInt(String(sqrtPriceX96)),
        tick: Number(tick),
        liquidity: BigInt(String(liquidity)),
      };
    },
    balanceOf: (token, owner) => readBalance(rpc, token.address, owner),
    pool: (index) => {
      const pool = world.pools[index];
      if (pool === undefined) throw new Error(`the test world has no pool ${index}`);
      return pool;
    },
  };
}

async function readBalance(rpc: DevRpc, token: Hex, owner: Hex): Promise<bigint> {
  return BigInt(String(await readContract(rpc, ERC20, token, 'balanceOf', [owner])));
}

async function readReceipts(rpc: DevRpc, block: number): Promise<unknown[]> {
  return asList(await rpc.call('eth_getBlockReceipts', [numberToHex(block)]));
}

function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value;
}
