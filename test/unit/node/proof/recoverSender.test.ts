/** Compares the sender that a transaction's signature gives with the account that signed it, and with ethers. */
import { encodeRlp, getBytes, Transaction, Wallet, type TransactionLike } from 'ethers';

import { loadKeccak } from '../../../../src/node/proof/keccak';
import { recoverSender } from '../../../../src/node/proof/recoverSender';
import { SenderThreads } from '../../../../src/node/proof/senderThreads';

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
  ['with a long input', { ...common, ...fees, type: 2, chainId: 369n, data: `0x${'cd'.repeat(300)}` }],
];

const senderOf = async (encoded: string): Promise<string | null> =>
  recoverSender(getBytes(encoded), await loadKeccak());

test.each(kinds)('the signature of a transaction %s gives the account that signed it', async (_, fields) => {
  for (const signer of signers)
    for (let nonce = 0; nonce < 4; nonce += 1) {
      const encoded = await signer.signTransaction({ ...fields, nonce });
      expect(await senderOf(encoded)).toBe(signer.address.toLowerCase());
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
  expect(await senderOf(other.serialized)).not.toBe(signer?.address.toLowerCase());
});

test('bytes without a signature are an error, as those of system transactions, and a signature without a key gives no sender', async () => {
  const unsigned = Transaction.from({ ...common, ...fees, type: 2, chainId: 369 });
  await expect(senderOf(unsigned.unsignedSerialized)).rejects.toThrow('the transaction has no signature');
  const [{ address }] = signers as [Wallet, ...Wallet[]];
  const deposit = [`0x${'11'.repeat(32)}`, address, address, '0x', '0x', '0x5208', '0x', '0x'];
  const ofSystems = { '0x7e': deposit, '0x6a': ['0xa4b1', '0x6bf6a42d'] };
  for (const [type, fields] of Object.entries(ofSystems))
    await expect(senderOf(`${type}${encodeRlp(fields).slice(2)}`)).rejects.toThrow(`type ${type} is unknown`);
  unsigned.signature = { r: `0x${'0'.repeat(63)}5`, s: `0x${'0'.repeat(63)}1`, yParity: 0 };
  expect(await senderOf(unsigned.serialized)).toBeNull();
});

test('bytes that are not a transaction are an error', async () => {
  const encoded = await signers[0]?.signTransaction({ ...common, ...fees, type: 2, chainId: 369n });
  if (encoded === undefined) throw new Error('there is no signer');
  for (const bytes of ['0x02', '0x0201', encoded.slice(0, -2), `${encoded}00`])
    await expect(senderOf(bytes)).rejects.toThrow(RangeError);
});

test('threads give the senders of all valid transactions', async () => {
  const keccak = await loadKeccak();
  const threads = new SenderThreads(keccak, 3);
  const encoded: Uint8Array[] = [];
  for (const [, fields] of kinds)
    for (const signer of signers) encoded.push(getBytes(await signer.signTransaction(fields)));
  const expected = new Map(encoded.map((bytes) => [bytes, recoverSender(bytes, keccak)]));
  const senders = await threads.recover([...encoded, encoded[0]!.subarray(1), Buffer.alloc(0)]);
  expect(senders).toEqual(expected);
  await threads.close();
});
