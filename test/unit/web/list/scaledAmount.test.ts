/** Amounts of decoded events in whole tokens. */
import { scaledAmount } from '../../../../src/web/list/scaledAmount';

const USDC = { symbol: 'USDC', decimals: 6 };
const WETH = { symbol: 'WETH', decimals: 18 };
const TOKEN = { token: USDC, pair: null };
const PAIR = { token: null, pair: { pool_type: 2, tokens: [USDC, WETH] } };
const TRANSFER = 'Transfer(address,address,uint256)';
const V3_SWAP = 'Swap(address,address,int256,int256,uint160,uint128,int24)';

test.each([
  [TRANSFER, 2, '1234567890', TOKEN, '1,234.56789 USDC'],
  [TRANSFER, 2, '1', TOKEN, '0.000001 USDC'],
  [TRANSFER, 2, '1500000000000000000', PAIR, '1.5 LP'],
  ['Sync(uint112,uint112)', 0, '5000000', PAIR, '5 USDC'],
  ['Sync(uint112,uint112)', 1, '5000000', PAIR, '0.000000000005 WETH'],
  [V3_SWAP, 3, '-2000000000000000000', PAIR, '−2 WETH'],
])('%s: argument %i, %s, is an amount', (signature, position, value, emitter, text) => {
  expect(scaledAmount(signature, { position, indexed: false, value }, emitter)).toBe(text);
});

test('other arguments, ids of NFTs and amounts of unknown decimals stay as they are', () => {
  const at = (position: number, indexed: boolean) => ({ position, indexed, value: '7' });
  expect(scaledAmount(TRANSFER, at(1, false), TOKEN)).toBeNull();
  expect(scaledAmount(TRANSFER, at(2, true), TOKEN)).toBeNull();
  expect(scaledAmount('Vote(uint256)', at(0, false), TOKEN)).toBeNull();
  expect(scaledAmount('constructor', at(0, false), TOKEN)).toBeNull();
  const unknown = { token: { symbol: 'X', decimals: null }, pair: null };
  expect(scaledAmount(TRANSFER, at(2, false), unknown)).toBeNull();
  expect(scaledAmount('Sync(uint112,uint112)', at(0, false), TOKEN)).toBeNull();
});
