/**
 * Contracts of a family of protocols on a local node: compiles the test's own contracts, deploys them with tokens of many
 * decimals and a trader that owns all tokens, and mines blocks of transactions that must succeed.
 */
import { getCreateAddress, Interface } from 'ethers';

import { encodeCall, encodeDeploy, readContract, TOKEN_CONSTRUCTOR } from '../../../src/dev/abi';
import { expectAllSucceeded, openBlockMaker, type BlockMaker } from '../../../src/dev/node/blockMaker';
import { getBlockHead, type DevRpc } from '../../../src/dev/node/devRpc';
import { readOwnBytecode } from '../../../src/dev/packageFiles';
import { ZERO_ADDRESS, type Hex } from '../../../src/domain/hex';
import { compileSolidity } from '../node/compileSolidity';

/** Each token has a supply of 10^15 whole tokens. */
const SUPPLY_DIGITS = 15;
const TOKEN = new Interface(['function balanceOf(address) view returns (uint256)']);

export interface MarketToken {
  readonly address: Hex;
  readonly decimals: number;
}

export interface MarketPool {
  readonly address: Hex;
  readonly token0: MarketToken;
  readonly token1: MarketToken;
}

export interface PoolMarket {
  /** The account that deploys the contracts and owns them. */
  readonly owner: Hex;
  readonly maker: BlockMaker;
  /** The contract `Trader` of the source. */
  readonly trader: Hex;
  /** One token for each number of decimals. */
  readonly tokens: readonly MarketToken[];
  /** The code of a contract in the source. */
  readonly codeOf: (contract: string) => Hex;
  /** Deploys a contract with the next block, and returns its address. */
  deploy(code: Hex, abi?: Interface, values?: readonly unknown[]): Hex;
  /** Sends a transaction with the next block: of the owner, or to the trader from two accounts in turn. */
  add(to: Hex, abi: Interface, name: string, values: readonly unknown[]): void;
  /** Mines the next block. Rejects if a transaction failed. Returns its number. */
  mine(seconds?: number): Promise<number>;
}

/** Gas of a call, and of a transaction that creates a contract. A block holds 100 million. */
interface Gas {
  readonly call: number;
  readonly creation: number;
}

/** `source` is the path of the file with the contracts. A second market on a node needs other accounts than the first. */
export async function openPoolMarket(
  rpc: DevRpc,
  source: string,
  decimals: readonly number[],
  gas: Gas = { call: 6_000_000, creation: 6_000_000 },
  firstAccount = 0,
): Promise<PoolMarket> {
  const accounts = ((await rpc.call('eth_accounts')) as Hex[]).slice(firstAccount, firstAccount + 2);
  const [owner = ZERO_ADDRESS] = accounts;
  const maker = await openBlockMaker(rpc, accounts);
  const codeOf = compileSolidity(source);
  const deploy: PoolMarket['deploy'] = (code, abi, values = []) => {
    const data = encodeDeploy(code, abi, values);
    const nonce = maker.add({ from: owner, to: null, gas: gas.creation, data });
    return getCreateAddress({ from: owner, nonce }).toLowerCase() as Hex;
  };
  const mine = async (seconds = 10): Promise<number> => {
    const { number, timestamp } = await getBlockHead(rpc);
    await maker.mine(timestamp + seconds);
    await expectAllSucceeded(rpc, number + 1);
    return number + 1;
  };
  const trader = deploy(codeOf('Trader'));
  await mine();
  const tokens: MarketToken[] = [];
  for (const each of decimals) {
    const values = [`Token ${each}`, `T${each}`, each, 10n ** BigInt(each + SUPPLY_DIGITS), trader, 0];
    tokens.push({ address: deploy(readOwnBytecode('DevToken'), TOKEN_CONSTRUCTOR, values), decimals: each });
    await mine();
  }
  let sent = 0;
  const add: PoolMarket['add'] = (to, abi, name, values) => {
    const from = to === trader ? (accounts[(sent += 1) % accounts.length] ?? owner) : owner;
    const data = encodeCall(abi, name, values);
    maker.add({ from, to, gas: name.startsWith('create') ? gas.creation : gas.call, data });
  };
  return { owner, maker, trader, tokens, codeOf, deploy, add, mine };
}

/** Both tokens in the order of a pool. */
export function inOrder<Token extends MarketToken>(a: Token, b: Token): readonly [Token, Token] {
  return a.address < b.address ? [a, b] : [b, a];
}

/** The balances of both tokens of a pool, by default those of the pool itself. */
export function balancesOf(
  rpc: DevRpc,
  { address, token0, token1 }: MarketPool,
  owner = address,
): Promise<[bigint, bigint]> {
  const read = (token: MarketToken) => readBigInt(rpc, TOKEN, token.address, 'balanceOf', [owner]);
  return Promise.all([read(token0), read(token1)]);
}

/** The answer of a contract that is one number. */
export async function readBigInt(
  rpc: DevRpc,
  abi: Interface,
  to: Hex,
  name: string,
  values: readonly unknown[] = [],
): Promise<bigint> {
  return BigInt(String(await readContract(rpc, abi, to, name, values)));
}

/**
 * Raw token out per raw token in of infinitely small swaps: the quotes of 1 to 16 units, without the fee and divided by their
 * size, continued to the size 0 (Neville). Vaults round powers to about 1e-14, so smaller sizes would be less exact. A fee of
 * 1e18 means 100 %.
 */
export async function limitOfQuotes(
  unit: bigint,
  fee: bigint,
  quote: (size: bigint) => Promise<bigint>,
): Promise<number> {
  const sizes = [16n, 8n, 4n, 2n, 1n].map((times) => times * unit);
  const kept = 1 - Number(fee) / 1e18;
  const rates: number[] = [];
  for (const size of sizes) rates.push(Number(await quote(size)) / (Number(size) * kept));
  for (let level = 1; level < sizes.length; level += 1)
    for (let index = sizes.length - 1; index >= level; index -= 1) {
      const [far, near] = [Number(sizes[index - level]), Number(sizes[index])];
      rates[index] = (far * rates[index]! - near * rates[index - 1]!) / (far - near);
    }
  return rates.at(-1)!;
}
