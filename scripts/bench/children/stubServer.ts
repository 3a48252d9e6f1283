/** `node stubServer.js '<StubChainOptions as JSON>'`: runs a stub chain in its own process and prints its address. */
import { startStubChain, type StubChainOptions } from '../../../test/support/stub/stubChain';

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as StubChainOptions;
  const chain = await startStubChain(options);
  process.stdout.write(`${chain.url}\n`);
  // The standard input closes when the starting process ends. Then this process ends too.
  process.stdin.on('end', () => process.exit(0)).resume();
}

void main();
