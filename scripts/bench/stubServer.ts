/** `node stubServer.js '<StubChainOptions as JSON>'`: a stub chain in a process of its own; prints its address. */
import { startStubChain, type StubChainOptions } from '../../test/support/stubChain';

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as StubChainOptions;
  const chain = await startStubChain(options);
  process.stdout.write(`${chain.url}\n`);
  // Lives as long as whoever started it.
  process.stdin.on('end', () => process.exit(0)).resume();
}

void main();
