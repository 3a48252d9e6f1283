import { transactionFee } from '../../../../src/web/explorer/transactionFee';

const [GAS_USED, GAS_PRICE] = [21_000n, 1_000_000_000n];

test.each([
  ['Ethereum', { gasUsed: GAS_USED, gasPrice: GAS_PRICE, layer1Fee: null }, 21_000_000_000_000n],
  ['the OP Stack', { gasUsed: GAS_USED, gasPrice: GAS_PRICE, layer1Fee: 10_000n }, 21_000_000_010_000n],
  ['the OP Stack, for a deposit', { gasUsed: GAS_USED, gasPrice: 0n, layer1Fee: 0n }, 0n],
  ['a node without receipts', { gasUsed: null, gasPrice: GAS_PRICE, layer1Fee: null }, null],
  ['a node without prices', { gasUsed: GAS_USED, gasPrice: null, layer1Fee: null }, null],
])('the fee of a transaction on %s contains the part for layer 1', (_, payment, fee) => {
  expect(transactionFee(payment)).toBe(fee);
});
