/**
 * Compares data that only a real node has with the contracts: native balances, fees owed to V3 positions,
 * balances that change without logs, and wallets older than the history. Each figure must equal the
 * contracts' answers at the same block.
 */

import { Interface, keccak256 } from 'ethers';

import { encodeCall } from '../../../src/dev/abi';
import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import { toHexData } from '../../../src/dev/node/devRpc';
import { formatUnits } from '../../../src/domain/amounts';
import type { Hex } from '../../../src/domain/hex';
import type { Portfolio } from '../../../src/wire/portfolio';
import type { TokenDetail, TokenItem } from '../../../src/wire/tokens';
import { Random } from '../../support/random';
import { eventually } from '../../support/eventually';
import type { TestAnvil, TestWorld } from '../../support/node/anvil';
import { waitForBlock, type Program } from '../../support/server/program';
import { TEST_POOLS } from '../../support/worlds/testWorldPlan';
import { rawWorth, startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

const SEED = Number(process.env['ANVIL_SEED'] ?? 41);
const MOST = 2n ** 128n - 1n;
/** Storage slot of `balanceOf` in DevToken.sol, after name, symbol and totalSupply. */
const BALANCES_SLOT = 3n;
const REBASED = 7_654_321n;
const MANAGER = new Interface([
  'function collect((uint256 tokenId,address recipient,uint128 amount0Max,uint128 amount1Max)) returns (uint256 amount0, uint256 amount1)',
]);

let on: WorldProgram;
let anvil: TestAnvil;
let world: TestWorld;
let program: Program;
let head = 0;

beforeAll(async () => {
  on = await startWorldProgram();
  ({ anvil, world, program } = on);
});

afterAll(() => on?.close());

const portfolioOf = (wallet: Hex, from: Program = program): Promise<Portfolio> =>
  on.get<Portfolio>(`/portfolio/${wallet}`, from);

async function mine(transactions: readonly DevTransaction[]): Promise<void> {
  head = (await world.mineBlock(undefined, transactions)).number;
}

/** An amount of each token worth about `usd` dollars. */
const amountsOf = ({ token0, token1 }: TestWorld['pools'][number], usd: number) => ({
  amount0: rawWorth(token0, usd),
  amount1: rawWorth(token1, usd),
});

/** Creates positions of each user around the price, then trades that earn fees. Returns the positions by owner. */
async function earnFees(random: Random): Promise<Map<Hex, bigint[]>> {
  const owners = new Map<Hex, bigint[]>();
  const pools = [world.pool(TEST_POOLS.wethUsdcV3), world.pool(TEST_POOLS.hexdWplsV3)];
  for (const from of world.users) {
    const ids: bigint[] = [];
    for (const pool of pools) {
      const { tick } = await world.readSlot0(pool);
      const near = Math.floor(tick / 60) * 60;
      const width = 60 * random.int(5, 40);
      const range = { tickLower: near - width, tickUpper: near + width };
      await mine([world.mintV3(pool, { ...amountsOf(pool, 900), ...range, from })]);
      ids.push(...(await world.listMintedPositions(head)));
    }
    owners.set(from, ids);
  }
  for (let round = 0; round < 12; round += 1) {
    const pool = random.pick(pools);
    const zeroForOne = random.int(0, 1) === 0;
    const { amount0, amount1 } = amountsOf(pool, 700);
    await mine([world.swapV3(pool, { zeroForOne, amountIn: zeroForOne ? amount0 : amount1 })]);
  }
  return owners;
}

async function collectable(owner: Hex, id: bigint): Promise<readonly [bigint, bigint]> {
  const data = encodeCall(MANAGER, 'collect', [[id, owner, MOST, MOST]]);
  const call = { from: owner, to: world.v3.positionManager, data };
  const answer = toHexData(await anvil.rpc.call('eth_call', [call, 'latest']));
  const [amount0, amount1] = MANAGER.decodeFunctionResult('collect', answer).toArray();
  return [BigInt(String(amount0)), BigInt(String(amount1))];
}

test('positions show exactly the amounts that collect would pay, and a wallet shows the native balance of the node', async () => {
  const random = new Random(SEED);
  const owners = await earnFees(random);
  // Liquidity is removed from a position but not collected. The contract then owes the amount to the owner,
  // and the position no longer contains it.
  const [first] = world.users;
  const [id] = owners.get(first!)!;
  await waitForBlock(program.url, head);
  const before = (await portfolioOf(first!)).positions.find(({ position_id }) => position_id === `${id}`)!;
  const half = BigInt(before.lp_balance_raw) / 2n;
  await mine([world.burnV3({ positionId: id!, liquidity: half, from: first! })]);
  await waitForBlock(program.url, head);
  let paid = 0;
  for (const [owner, ids] of owners) {
    const { native, positions, flags } = await portfolioOf(owner);
    const coins = BigInt(String(await anvil.rpc.call('eth_getBalance', [owner, 'latest'])));
    expect(native).toMatchObject({ symbol: 'PLS', balance_raw: coins.toString() });
    expect(native!.value_usd).toBeGreaterThan(0);
    // The wallet holds more of the native coin than the pools could pay out, so a cap limits the value of the coin.
    expect(flags).toEqual(['value_capped']);
    for (const each of ids) {
      const position = positions.find(({ position_id }) => position_id === each.toString())!;
      const owed = await collectable(owner, each);
      const decimals = position.tokens.map(
        ({ address }) => world.tokens.find((token) => token.address === address)!.decimals,
      );
      expect(position.unclaimed!.map(({ amount }) => amount)).toEqual(
        owed.map((raw, i) => formatUnits(raw, decimals[i]!)),
      );
      if (owed.some((raw) => raw > 0n)) paid += 1;
    }
  }
  expect(paid).toBeGreaterThan(3);
});

test('a token whose balances change without logs is flagged, and its balances come from its contract', async () => {
  const token = world.tokens.find(({ key }) => key === 'whole')!;
  const holder = world.users[1]!;
  const slot = keccak256(
    `0x${holder.slice(2).padStart(64, '0')}${BALANCES_SLOT.toString(16).padStart(64, '0')}`,
  );
  const more = (await world.balanceOf(token, holder)) + REBASED;
  await anvil.rpc.call('anvil_setStorageAt', [
    token.address,
    slot,
    `0x${more.toString(16).padStart(64, '0')}`,
  ]);
  expect(await world.balanceOf(token, holder)).toBe(more);
  const isMarked = async (): Promise<boolean> =>
    (await on.get<TokenDetail>(`/tokens/${token.address}`)).flags.includes('rebasing');
  expect(await isMarked()).toBe(false);
  // The measurement of balances follows new transfers.
  const transferAndLook = async (): Promise<boolean> => {
    await mine([world.transfer(token, { from: world.users[0]!, to: holder, amount: 1n })]);
    await waitForBlock(program.url, head);
    return isMarked();
  };
  await eventually(transferAndLook, (marked) => marked);
  await mine([]);
  await waitForBlock(program.url, head);
  const items = await on.get<readonly TokenItem[]>('/tokens?limit=100');
  expect(items.filter(({ flags }) => flags.includes('rebasing')).map(({ address }) => address)).toEqual([
    token.address,
  ]);
  const detail = await on.get<TokenDetail>(`/tokens/${token.address}`);
  expect(detail.warnings.map(({ code }) => code)).toContain('rebasing');
  const entry = (await portfolioOf(holder)).tokens.find(({ address }) => address === token.address)!;
  expect([entry.flags, entry.balance_raw]).toEqual([
    ['rebasing', 'value_capped'],
    (await world.balanceOf(token, holder)).toString(),
  ]);
  const scrape = await (await fetch(`${program.url}/metrics`)).text();
  expect(scrape).toMatch(/^candlehouse_balance_rebasing_tokens{chain="369"} 1$/m);
  expect(scrape).toMatch(/^candlehouse_skipped_transfer_logs\{chain="369",reason="nft"\} 0$/m);
});

test('wallets older than the stored history have the balances that balanceOf returns, in tokens and LP tokens', async () => {
  const late = await on.start(head - 6);
  try {
    await waitForBlock(late.url, head);
    const wallets = [...world.users, world.trader];
    const pools = world.pools.filter(({ protocol }) => protocol === 'uniswap_v2');
    // The program finds an older pool by its first event, so each pool trades once after the first indexed block.
    const swaps = pools.map((pool) =>
      world.swapV2(pool, { zeroForOne: true, amountIn: amountsOf(pool, 30).amount0 }),
    );
    for (const transaction of swaps) await mine([transaction]);
    for (let round = 0; round < 2; round += 1) {
      await mine([
        world.transfer(world.tokens[1]!, { from: world.users[0]!, to: world.users[2]!, amount: 5n }),
      ]);
      await waitForBlock(late.url, head);
      for (const wallet of wallets) {
        const { tokens, positions, flags } = await portfolioOf(wallet, late);
        expect(flags).toEqual(expect.arrayContaining(['partial_history', 'seeded']));
        expect(flags).not.toContain('node_away');
        for (const token of world.tokens.filter(({ key }) => key !== 'weth')) {
          const shown = tokens.find(({ address }) => address === token.address)?.balance_raw ?? '0';
          expect([token.key, shown]).toEqual([token.key, (await world.balanceOf(token, wallet)).toString()]);
        }
        for (const pool of pools) {
          const held = await world.balanceOf(pool, wallet);
          const position = positions.find(({ pair_address }) => pair_address === pool.address);
          expect([pool.address, position?.lp_balance_raw ?? '0']).toEqual([pool.address, held.toString()]);
          if (position !== undefined) expect(position.share_pct).toBeGreaterThan(0);
        }
      }
    }
    // Transfers before the first indexed block are missing, so balanceOf differs from the sum of the logs by a
    // constant. This must not flag a token as rebasing.
    const items = await on.get<readonly TokenItem[]>('/tokens?limit=100', late);
    expect(items.length).toBeGreaterThan(3);
    for (const { flags } of items) expect(flags).not.toContain('rebasing');
  } finally {
    await late.end('SIGTERM');
  }
});
