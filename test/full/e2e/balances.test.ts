/**
 * Compares balances with the contracts after trades, liquidity changes, wrapping and reorgs on a real node. Covers
 * every user's tokens, LP tokens and V3 positions.
 */
import { Interface } from 'ethers';

import { encodeCall } from '../../../src/dev/abi';
import type { DevTransaction } from '../../../src/dev/node/blockMaker';
import { toHexData } from '../../../src/dev/node/devRpc';
import { eventually } from '../../support/eventually';
import { Random } from '../../support/random';
import type { TestAnvil, TestWorld } from '../../support/node/anvil';
import { waitForBlock, type Program } from '../../support/server/program';
import { rawWorth, startWorldProgram, type WorldProgram } from '../../support/server/worldProgram';

const SEED = Number(process.env['ANVIL_SEED'] ?? 9);
const ROUNDS = 14;
const WRAPPED = new Interface(['function deposit() payable', 'function withdraw(uint256)']);
const MANAGER = new Interface([
  'function positions(uint256) view returns (uint96,address,address,address,uint24,int24,int24,uint128,uint256,uint256,uint128,uint128)',
]);

let on: WorldProgram;
let anvil: TestAnvil;
let world: TestWorld;
let program: Program;
let head = 0;

interface Portfolio {
  readonly tokens: readonly { readonly address: string; readonly balance_raw: string }[];
  readonly positions: readonly {
    readonly pair_address: string;
    readonly pool_type: number;
    readonly lp_balance_raw: string;
    readonly position_id?: string;
    readonly tick_lower?: number;
    readonly tick_upper?: number;
    readonly in_range?: boolean;
    readonly tokens: readonly { readonly address: string; readonly amount: string }[];
  }[];
}

beforeAll(async () => {
  on = await startWorldProgram();
  ({ anvil, world, program } = on);
});

afterAll(() => on?.close());

async function randomActions(random: Random): Promise<DevTransaction[]> {
  const from = random.pick([...world.users]);
  const v2 = random.pick(world.pools.filter((pool) => pool.protocol === 'uniswap_v2'));
  const v3 = random.pick(world.pools.filter((pool) => pool.protocol === 'uniswap_v3'));
  const { reserve0, reserve1 } = await world.readReserves(v2);
  const { tick } = await world.readSlot0(v3);
  const token = random.pick(world.tokens);
  const held = await world.balanceOf(token, from);
  const lp = await world.balanceOf(v2, from);
  const near = Math.floor(tick / 60) * 60;
  const deposit = { amount0: rawWorth(v3.token0, 1_000), amount1: rawWorth(v3.token1, 1_000) };
  return [
    random.pick<() => DevTransaction>([
      () => world.swapV2(v2, { zeroForOne: true, amountIn: reserve0 / 900n, from }),
      () => world.mintV2(v2, { amount0: reserve0 / 1_000n, amount1: reserve1 / 1_000n, from }),
      () =>
        lp > 0n
          ? world.burnV2(v2, { liquidity: lp / 3n + 1n, from })
          : world.transfer(token, { from, to: from, amount: 0n }),
      () => world.mintV3(v3, { ...deposit, tickLower: near - 600, tickUpper: near + 600, from }),
      () => world.transfer(token, { from, to: random.pick([...world.users]), amount: held / 3n }),
      () => ({
        from,
        to: world.wrappedNative,
        data: encodeCall(WRAPPED, 'deposit', []),
        gas: 100_000,
        value: 5_000n,
      }),
      () => ({
        from,
        to: world.wrappedNative,
        data: encodeCall(WRAPPED, 'withdraw', [1_000n]),
        gas: 100_000,
      }),
    ])(),
  ];
}

test('the balances of every user equal the answers of the contracts, through reorgs', async () => {
  const random = new Random(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    const transactions = await randomActions(random);
    if (round % 5 === 4) {
      // The effects of the dropped blocks must disappear, including positions.
      const heads = await world.reorg(2, [{ transactions: [] }, { transactions: [] }, { transactions: [] }]);
      head = heads.at(-1)!.number;
    } else head = (await world.mineBlock(undefined, transactions)).number;
  }
  await waitForBlock(program.url, head);
  const wallets = [...world.users, world.trader];
  let compared = 0;
  for (const wallet of wallets) {
    const { tokens, positions } = await on.get<Portfolio>(`/portfolio/${wallet}`);
    for (const token of world.tokens) {
      const shown = tokens.find(({ address }) => address === token.address)?.balance_raw ?? '0';
      expect([token.key, shown]).toEqual([token.key, (await world.balanceOf(token, wallet)).toString()]);
      compared += 1;
    }
    for (const pool of world.pools.filter(({ protocol }) => protocol === 'uniswap_v2')) {
      const shown =
        positions.find(({ pair_address }) => pair_address === pool.address)?.lp_balance_raw ?? '0';
      expect([pool.address, shown]).toEqual([pool.address, (await world.balanceOf(pool, wallet)).toString()]);
      expect(tokens.map(({ address }) => address)).not.toContain(pool.address);
    }
  }
  expect(compared).toBe(wallets.length * world.tokens.length);
});

test('V3 positions have the liquidity and ticks of the position manager', async () => {
  let seen = 0;
  for (let block = 1; block <= head; block += 1) {
    for (const id of await world.listMintedPositions(block)) {
      const data = encodeCall(MANAGER, 'positions', [id]);
      const answer = toHexData(
        await anvil.rpc.call('eth_call', [{ to: world.v3.positionManager, data }, 'latest']),
      );
      const position = MANAGER.decodeFunctionResult('positions', answer).toArray();
      const owners: Portfolio[] = [];
      for (const user of world.users) owners.push(await on.get<Portfolio>(`/portfolio/${user}`));
      const shown = owners
        .flatMap(({ positions }) => positions)
        .filter(({ position_id }) => position_id === id.toString());
      expect(shown).toHaveLength(1);
      expect([shown[0]!.tick_lower, shown[0]!.tick_upper, shown[0]!.lp_balance_raw]).toEqual([
        Number(position[5]),
        Number(position[6]),
        String(position[7]),
      ]);
      seen += 1;
    }
  }
  expect(seen).toBeGreaterThan(0);
});

test('the supply of a token equals its contract, and its holder count includes every user', async () => {
  const usdc = world.tokens.find(({ key }) => key === 'usdc')!;
  const read = () =>
    on.get<{ total_supply: string | null; holders: number | null }>(`/tokens/${usdc.address}`);
  // The number of holders is unknown until the contract was asked about a sample of the holders.
  const answer = await eventually(read, ({ holders }) => holders !== null);
  const call = {
    to: usdc.address,
    data: encodeCall(new Interface(['function totalSupply() view returns (uint256)']), 'totalSupply', []),
  };
  const supply = BigInt(String(await anvil.rpc.call('eth_call', [call, 'latest'])));
  expect(Number(answer.total_supply) * 10 ** usdc.decimals).toBe(Number(supply));
  expect(answer.holders).toBeGreaterThanOrEqual(world.users.length);
});
