/** Compares the oracle's parser of logs with ethers' on a whole simulated chain and on malformed logs. */
import { Interface } from 'ethers';

import { parsePlain } from '../support/oracle/plainEvents';
import { FastRandom } from '../support/random';
import { SimChain } from './chain/simChain';
import { createWilderness } from './chain/simWild';

const ABI = new Interface([
  'event PairCreated(address indexed, address indexed, address, uint256)',
  'event PoolCreated(address indexed, address indexed, uint24 indexed, int24, address)',
  'event Sync(uint112, uint112)',
  'event Swap(address indexed, uint256, uint256, uint256, uint256, address indexed)',
  'event Swap(address indexed, address indexed, int256, int256, uint160, uint128, int24)',
  'event Swap(address indexed, address indexed, int256, int256, uint160, uint128, int24, uint128, uint128)',
  'event Mint(address indexed, uint256, uint256)',
  'event Burn(address indexed, uint256, uint256, address indexed)',
  'event Initialize(uint160, int24)',
  'event Mint(address, address indexed, int24 indexed, int24 indexed, uint128, uint256, uint256)',
  'event Burn(address indexed, int24 indexed, int24 indexed, uint128, uint256, uint256)',
  'event Collect(address indexed, address, int24 indexed, int24 indexed, uint128, uint128)',
  'event Flash(address indexed, address indexed, uint256, uint256, uint256, uint256)',
  'event PoolRegistered(bytes32 indexed, address indexed, uint8)',
  'event TokensRegistered(bytes32 indexed, address[], address[])',
  'event Swap(bytes32 indexed, address indexed, address indexed, uint256, uint256)',
  'event PoolBalanceChanged(bytes32 indexed, address indexed, address[], int256[], uint256[])',
  'event PoolBalanceManaged(bytes32 indexed, address indexed, address indexed, int256, int256)',
  'event SwapFeePercentageChanged(uint256)',
]);

const flat = (value: unknown): string =>
  Array.isArray(value) ? value.map(flat).join(' ') : String(value).toLowerCase();

test('the oracle parses every well-formed event like ethers', () => {
  const size = { emptyChance: 0, transactionsMax: 6, bigChance: 0.01, logsMax: 400 };
  const chain = new SimChain(77, createWilderness(new FastRandom(78), size));
  chain.mine(120);
  const seen = new Map<string, number>();
  for (const log of chain.canonical().flatMap((block) => block.logs)) {
    const plain = parsePlain(log);
    if (plain === null) continue;
    const event = ABI.parseLog({ topics: [...log.topics], data: log.data });
    expect([plain.name, flat(plain.args)]).toEqual([event?.name, flat([...event!.args])]);
    seen.set(`${plain.name} ${plain.args.length}`, (seen.get(`${plain.name} ${plain.args.length}`) ?? 0) + 1);
  }
  expect(seen.size).toBeGreaterThanOrEqual(18);
});
