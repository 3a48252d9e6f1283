/** Compares the sender that a transaction's signature gives with the account that signed it, and with ethers. */
import { getBytes, Transaction, Wallet, type TransactionLike } from 'ethers';

import { recoverSender } from '../../../../src/node/proof/recoverSender';

const SIGNERS = 8;
const signers = Array.from(
  { length: SIGNERS },
  (_, index) => new Wallet(`0x${(index + 1).toString(16).padStart(64, '0')}`),
);
const common = { to: `0x${'12'.repeat(20)}`, gasLimit: 21_000n, value: 5n, data: '0xab' };
const fees = { maxFeePerGas: 3n, maxPriorityFeePerGas: 1n };
const accessList = [{ address: `0x${'34'.repeat(20)}`, storageKeys: [`0x${'56'.repeat(32)}`] }];
const kinds: readonly [name: string, fields: TransactionLike<string>][] = [
  ['legacy, without a chain id', { ...common, type: 0, gasPrice: 2n, chainId: 0n }],
  ['legacy, with a chain id', { ...common, type: 0, gasPrice: 2n, chainId: 369n }],
  ['with an access list', { ...common, type: 1, gasPrice: 2n, chainId: 369n, accessList }],
  ['with a priority fee', { ...common, ...fees, type: 2, chainId: 369n, accessList }],
];

test.each(kinds)('the signature of a transaction %s gives the account that signed it', async (_, fields) => {
  for (const signer of signers)
    for (let nonce = 0; nonce < 4; nonce += 1) {
      const encoded = await signer.signTransaction({ ...fields, nonce });
      expect(recoverSender(getBytes(encoded))).toBe(signer.address);
      expect(Transaction.from(encoded).from).toBe(signer.address);
    }
});

test('another signature gives another account', async () => {
  const [signer] = signers;
  const signed = Transaction.from(
    await signer?.signTransaction({ ...common, ...fees, type: 2, chainId: 369n }),
  );
  const other = signed.clone();
  if (signed.signature === null) throw new Error('the transaction has no signature');
  other.signature = {
    ...signed.signature.toJSON(),
    yParity: signed.signature.yParity === 0 ? 1 : 0,
    v: undefined,
  };
  expect(recoverSender(getBytes(other.serialized))).not.toBe(signer?.address);
});

test('bytes without a signature are an error, and a signature without a key gives no sender', () => {
  const unsigned = Transaction.from({ ...common, ...fees, type: 2, chainId: 369 });
  expect(() => recoverSender(getBytes(unsigned.unsignedSerialized))).toThrow(
    'the transaction has no signature',
  );
  expect(() => recoverSender(new Uint8Array([2, 1]))).toThrow();
  unsigned.signature = { r: `0x${'0'.repeat(63)}5`, s: `0x${'0'.repeat(63)}1`, yParity: 0 };
  expect(recoverSender(getBytes(unsigned.serialized))).toBeNull();
});
