/**
 * Simulates sales of real token contracts on a real node: honest tokens with different storage layouts, and tokens that
 * trap their buyers in different ways. Also without storage overrides.
 */
import { createRequire } from 'node:module';

import { getCreateAddress, Interface } from 'ethers';

import { createEndpointPool, type EndpointPool } from '../../../src/node/rpc/endpointPool';
import { RpcError } from '../../../src/node/rpc/rpcError';
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import type { Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';
import { doSalesFail } from '../../../src/workers/saleTrial';
import type { EthCalls } from '../../../src/node/calls/askContracts';

/** `padding` moves the mappings to later slots. Each trap is a rule for transfers to the pool. */
const source = (padding: number): string => `
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
contract Token {
    uint256[${padding}] private gap;
    uint8 public trap;
    address public pool;
    address public favoured;
    mapping(address => bool) public early;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    constructor(uint8 kind, address pair, address one) { trap = kind; pool = pair; favoured = one; balanceOf[pair] = 1e24; }
    function give(address to) external { early[to] = true; balanceOf[to] += 1000e18; }
    function approve(address spender, uint256 value) external returns (bool) { allowance[msg.sender][spender] = value; return true; }
    function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }
    function move(address from, address to, uint256 value) private returns (bool) {
        if (trap == 6) revert("paused");
        if (trap == 7 && !early[from] && from != pool) revert("no history");
        if (to == pool && trap == 1) revert("closed");
        if (to == pool && trap == 2 && msg.sender != from) revert("no routers");
        if (to == pool && trap == 3 && from != favoured) revert("not you");
        if (to == pool && trap == 4 && value > 1e18) revert("too much");
        if (to == pool && trap == 5 && !early[from]) revert("too late");
        if (to == pool && trap == 8) return false;
        balanceOf[from] -= value;
        balanceOf[to] += value;
        return true;
    }
}`;

interface Compiler {
  compile(input: string): string;
}
interface Output {
  readonly contracts: {
    readonly 'a.sol': {
      readonly Token: { readonly evm: { readonly bytecode: { readonly object: string } } };
    };
  };
}

const TOKEN = new Interface([
  'constructor(uint8, address, address)',
  'function give(address)',
  'function approve(address, uint256)',
]);
const [PAIR, ROUTER] = [`0x${'51'.repeat(20)}`, `0x${'52'.repeat(20)}`] as const satisfies Hex[];
const HOLDERS = [1, 2, 3].map((index): Hex => `0x${'ab'.repeat(19)}0${index}`);
const DEPLOYER: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const UNIT = 10n ** 18n;
const log = createLog('silent', false);
const { signal } = new AbortController();

let anvil: Anvil;
let rpc: DevRpc;
let pool: EndpointPool;

const codes = new Map<number, string>();
function codeOf(padding: number): string {
  const known = codes.get(padding);
  if (known !== undefined) return known;
  const { compile } = createRequire(__filename)('solc-0.8.30') as Compiler;
  const input = {
    language: 'Solidity',
    sources: { 'a.sol': { content: source(padding) } },
    settings: { evmVersion: 'shanghai', outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  };
  const output = JSON.parse(compile(JSON.stringify(input))) as Output;
  const code = `0x${output.contracts['a.sol'].Token.evm.bytecode.object}`;
  codes.set(padding, code);
  return code;
}

async function send(from: Hex, to: Hex | null, data: string): Promise<void> {
  const gas = '0x989680';
  await rpc.call('eth_sendTransaction', [to === null ? { from, data, gas } : { from, to, data, gas }]);
  await rpc.call('evm_mine');
}

/** Deploys a token whose three holders have 1,000 units each. */
async function deploy(trap: number, { padding = 1, approve = false } = {}): Promise<Hex> {
  const nonce = Number(await rpc.call('eth_getTransactionCount', [DEPLOYER, 'latest']));
  const token = getCreateAddress({ from: DEPLOYER, nonce }).toLowerCase() as Hex;
  await send(DEPLOYER, null, codeOf(padding) + TOKEN.encodeDeploy([trap, PAIR, HOLDERS[1]]).slice(2));
  for (const holder of HOLDERS) {
    await send(DEPLOYER, token, TOKEN.encodeFunctionData('give', [holder]));
    if (approve) await send(holder, token, TOKEN.encodeFunctionData('approve', [ROUTER, 10n ** 30n]));
  }
  return token;
}

async function trial(token: Hex, by: EthCalls = pool, holders = HOLDERS, router: Hex | null = ROUTER) {
  const { hash } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as { hash: Hex };
  return doSalesFail(
    by,
    token,
    { pair: PAIR, router, holders, amount: 100n * UNIT, blockHash: hash },
    signal,
  );
}

/** A node that does not know overrides: it refuses them, or ignores them. */
function without(kind: 'refused' | 'ignored'): EthCalls {
  return {
    batchOutcomes(calls, parse, options) {
      if (kind === 'refused' && calls.some(({ params }) => params.length > 2))
        return Promise.reject(new RpcError('invalid', 'too many arguments, want at most 2'));
      const plain = calls.map((one) => ({ ...one, params: one.params.slice(0, 2) }));
      return pool.batchOutcomes(plain, parse, options);
    },
  };
}

beforeAll(async () => {
  anvil = await startAnvil({ log, timestamp: 1_700_000_000 });
  rpc = openDevRpc(anvil.url);
  await rpc.call('anvil_autoImpersonateAccount', [true]);
  for (const account of [DEPLOYER, ...HOLDERS])
    await rpc.call('anvil_setBalance', [account, '0xffffffffffffffffffff']);
  pool = createEndpointPool({ urls: [anvil.url], chainId: 369, log });
});

afterAll(async () => {
  await pool?.close();
  await rpc?.close();
  await anvil?.stop();
});

test.each<[string, number, boolean | null]>([
  ['an honest token', 0, false],
  ['a token whose pool is closed', 1, true],
  ['a token that no router can sell', 2, true],
  ['a token that one favoured holder can sell', 3, true],
  ['a token of which only small amounts can be sold', 4, true],
  ['a token that only early buyers can sell', 5, true],
  ['a paused token, whose buys fail too', 6, null],
  ['a token that moves only balances with a history', 7, false],
  ['a token whose sale returns false', 8, true],
])('sales of %s are judged with overrides', async (_, trap, expected) => {
  expect(await trial(await deploy(trap))).toBe(expected);
});

test.each([3, 20, 50])('balances and allowances are found %i slots later', async (padding) => {
  expect(await trial(await deploy(5, { padding }))).toBe(true);
  expect(await trial(await deploy(0, { padding }))).toBe(false);
});

test('a token whose slots are not found is judged by its holders only', async () => {
  expect(await trial(await deploy(5, { padding: 80 }))).toBe(false);
  expect(await trial(await deploy(2, { padding: 80, approve: true }))).toBe(true);
});

test.each(['refused', 'ignored'] as const)(
  'if overrides are %s, real allowances count, and nothing is guessed',
  async (kind) => {
    const node = without(kind);
    expect(await trial(await deploy(0), node)).toBe(false);
    expect(await trial(await deploy(1), node)).toBe(true);
    expect(await trial(await deploy(2), node)).toBe(false);
    expect(await trial(await deploy(2, { approve: true }), node)).toBe(true);
    expect(await trial(await deploy(5), node)).toBe(false);
    expect(await trial(await deploy(0), node, [])).toBeNull();
  },
);

test('without holders, the new address decides, and without a router its own transfer', async () => {
  expect(await trial(await deploy(0), pool, [])).toBe(false);
  expect(await trial(await deploy(2), pool, [])).toBe(true);
  expect(await trial(await deploy(2), pool, [], null)).toBe(false);
  expect(await trial(await deploy(7), pool, [])).toBeNull();
});
