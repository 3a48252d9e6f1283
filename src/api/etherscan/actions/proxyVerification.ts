/**
 * The actions verifyproxycontract and checkproxyverification, which OpenZeppelin's Hardhat plugin calls after an upgrade.
 * Etherscan looks for the implementation in a job; here it is known already, so the ticket names the proxy and what the
 * client expects, and each check answers from the present state. Tickets work in every process and after a restart.
 */
import { isAddress, type Hex } from '../../../domain/hex';
import { findImplementation } from '../../../query/contracts/contractView';
import type { Ask } from '../action';
import { dialectError, ok } from '../answers';
import { findAddressParam, needAddress, textOf } from '../askedParams';

/** Etherscan's texts. The plugin shows the reason of a refusal. */
const PROXY_TEXTS = {
  foundImplementation: (proxy: Hex, implementation: Hex): string =>
    `The proxy's (${proxy}) implementation contract is found at ${implementation} and is successfully updated.`,
  noProxy: 'A corresponding implementation contract was unfortunately not detected for the proxy address.',
  otherImplementation: (implementation: Hex, expected: Hex): string =>
    `The implementation contract at ${implementation} does not match the expected implementation ${expected}.`,
  badTicket: 'Unknown UID',
} as const;

const TICKET = /^([0-9a-f]{40})([0-9a-f]{40})?$/;

/** The ticket is the address of the proxy, then the expected implementation if the client names one. */
export async function verifyProxyContract({ deps, asked, chainId }: Ask) {
  const proxy = needAddress(asked);
  const expected = findAddressParam(asked, 'expectedimplementation');
  const facts = await deps.contracts.find(chainId, proxy);
  if (facts?.code == null) throw dialectError(`Unable to locate ContractCode at ${proxy}`);
  return ok(`${proxy.slice(2)}${expected?.slice(2) ?? ''}`);
}

export async function checkProxyVerification({ deps, asked, chainId, chainAtHead }: Ask) {
  const [, proxyDigits, expectedDigits] = TICKET.exec((textOf(asked, 'guid') ?? '').toLowerCase()) ?? [];
  const [proxy, expected] = [`0x${proxyDigits}`, `0x${expectedDigits}`];
  if (!isAddress(proxy)) throw dialectError(PROXY_TEXTS.badTicket);
  const facts = await deps.contracts.find(chainId, proxy);
  const implementation = await findImplementation(chainAtHead, facts);
  // These answers may change with the next block. The cache does not keep errors.
  if (implementation === null) throw dialectError(PROXY_TEXTS.noProxy);
  if (isAddress(expected) && expected !== implementation)
    throw dialectError(PROXY_TEXTS.otherImplementation(implementation, expected));
  return ok(PROXY_TEXTS.foundImplementation(proxy, implementation));
}
