/** Which raw logs are stored with EXPLORER=off. */
import type { Hex } from '../../../../src/domain/hex';
import { ALGEBRA_FEES } from '../../../../src/protocols/algebra/algebraEvents';
import { isKeptLog, KEPT_TOPICS } from '../../../../src/ingest/decode/keptLogs';
import { POOL_TOPICS, VAULT_TOPICS } from '../../../../src/protocols/balancerV2/decodeBalancerEvent';
import { V3_SWAP_FEE_CHANGED } from '../../../../src/protocols/balancerV3/decodeV3Event';
import { FEE_PERCENT_UPDATED } from '../../../../src/protocols/camelot/camelotEvents';
import { CURVE_FEE_TOPICS } from '../../../../src/protocols/curve/curveEvents';
import { CRYPTO_FEE_TOPICS } from '../../../../src/protocols/curveCrypto/cryptoEvents';
import { DYNAMIC_FEE_UPDATED } from '../../../../src/protocols/infinity/dynamicFee';
import { FEE_PROTOCOL_TOPICS } from '../../../../src/protocols/uniswapV3/feeProtocol';

const TRANSFER: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const OWNER: Hex = '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0';
const SYNC: Hex = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';
const UPGRADED: Hex = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';
const ZERO: Hex = `0x${'00'.repeat(32)}`;
const SOME: Hex = `0x${'00'.repeat(12)}${'ab'.repeat(20)}`;

const isKept = (...topics: Hex[]): boolean => isKeptLog({ topics });

test('upgrades of proxies, logs of vaults and changes of fees are kept', () => {
  expect(isKept(UPGRADED, SOME)).toBe(true);
  const vault = [...VAULT_TOPICS, ...POOL_TOPICS];
  const changes = [
    ...FEE_PROTOCOL_TOPICS,
    ...ALGEBRA_FEES,
    ...CURVE_FEE_TOPICS,
    ...CRYPTO_FEE_TOPICS,
    FEE_PERCENT_UPDATED,
    V3_SWAP_FEE_CHANGED,
    DYNAMIC_FEE_UPDATED,
  ];
  const others = [...vault, ...changes];
  for (const topic of others) expect(isKept(topic)).toBe(true);
  expect(KEPT_TOPICS.size).toBe(3 + others.length);
});

test('a mint and the first owner of a contract are kept, later transfers of tokens and owners are not', () => {
  expect(isKept(TRANSFER, ZERO, SOME)).toBe(true);
  expect(isKept(OWNER, ZERO, SOME)).toBe(true);
  expect(isKept(TRANSFER, SOME, SOME)).toBe(false);
  expect(isKept(TRANSFER, SOME, ZERO)).toBe(false);
  expect(isKept(OWNER, SOME, ZERO)).toBe(false);
});

test('mints of NFTs, swaps, and logs without topics are not kept', () => {
  expect(isKept(TRANSFER, ZERO, SOME, SOME)).toBe(false);
  expect(isKept(SYNC)).toBe(false);
  expect(isKept(ZERO)).toBe(false);
  expect(isKept()).toBe(false);
});
