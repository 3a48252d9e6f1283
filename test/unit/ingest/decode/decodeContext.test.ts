/** Tests which topics the decode context of a chain description contains. */
import { id } from 'ethers';

import { findBuiltInChain } from '../../../../src/chains/builtIn/builtInChains';
import { ZERO_HASH, type Hex } from '../../../../src/domain/hex';
import type { Dex } from '../../../../src/domain/pool';
import type { TransferRows } from '../../../../src/ingest/decode/decodeTransfers';
import { createDecodeContext } from '../../../../src/ingest/session/runIngest';
import { newIngestStatus } from '../../../../src/ingest/session/status';
import { createLog } from '../../../../src/log';

const DEX: Dex = {
  name: 'some_v2',
  displayName: 'Some',
  protocol: 'uniswap_v2',
  factory: `0x${'f'.repeat(40)}`,
};
const pulsechain = findBuiltInChain(369)!;

const contextOf = (dexes: readonly Dex[]) =>
  createDecodeContext({
    chain: { ...pulsechain, dexes },
    status: newIngestStatus(),
    log: createLog('silent', false),
  });

test('a decode context contains exactly the topics of the described DEXes', () => {
  const { creationTopics, eventTopics, manyTokens } = contextOf([DEX]);
  expect([...creationTopics]).toEqual([id('PairCreated(address,address,address,uint256)')]);
  const signatures = [
    'Swap(address,uint256,uint256,uint256,uint256,address)',
    'Sync(uint112,uint112)',
    'Mint(address,uint256,uint256)',
    'Burn(address,uint256,uint256,address)',
  ];
  expect([...eventTopics].sort()).toEqual(signatures.map((signature) => id(signature)).sort());
  expect(manyTokens.topics.size).toBe(0);
});

test('a decode context without DEXes contains no topics', () => {
  const { creationTopics, eventTopics, manyTokens } = contextOf([]);
  expect([creationTopics.size, eventTopics.size, manyTokens.topics.size]).toEqual([0, 0, 0]);
});

test('the decode context contains the events of a vault and its pools if a vault is described', () => {
  const { creationTopics, eventTopics, manyTokens } = contextOf([{ ...DEX, protocol: 'balancer_v2' }]);
  expect([creationTopics.size, eventTopics.size]).toEqual([0, 0]);
  expect(manyTokens.topics).toContain(id('PoolRegistered(bytes32,address,uint8)'));
  expect(manyTokens.topics).toContain(id('Swap(bytes32,address,address,uint256,uint256)'));
  expect(manyTokens.topics).toContain(id('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])'));
  expect(manyTokens.topics).toContain(id('SwapFeePercentageChanged(uint256)'));
});

test('the decode context contains both Swap layouts if a V3 DEX is described, because forks mix them', () => {
  const { eventTopics } = contextOf(pulsechain.dexes);
  expect(eventTopics).toContain(id('Swap(address,address,int256,int256,uint160,uint128,int24)'));
  expect(eventTopics).toContain(
    id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
  );
});

test('a position of Uniswap V4 counts from its first event on, also if its pool is not known yet', () => {
  const positionManager: Hex = `0x${'c'.repeat(40)}`;
  const { transfers } = contextOf([{ ...DEX, protocol: 'uniswap_v4', positionManager }]);
  const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');
  const log = {
    topics: [id('ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)'), `0x${'1'.repeat(64)}`],
    data: `0x${[-60n, 60n, 5n, 7n].map(word).join('')}`,
    ...{ transactionHash: ZERO_HASH, transactionIndex: 0, logIndex: 0 },
  } as const;
  const owned = [...log.topics, `0x${word(BigInt(positionManager))}`] as Hex[];
  const rows: TransferRows = { transfers: [], position_events: [], unreadableTokens: new Set() };
  for (const address of [DEX.factory, positionManager])
    transfers.read({ number: 1, timestamp: 1 }, { ...log, topics: owned, address }, rows);
  expect(rows.position_events).toMatchObject([
    { manager: positionManager, token_id: 7n, kind: 'increase', liquidity: 5n, pair: `0x${'1'.repeat(40)}` },
  ]);
});
