/** The sources of the development chain's contracts: each compiles to the code on the chain. */
import { startAnvil } from '../../../src/dev/node/anvil';
import { openDevRpc, toHexData } from '../../../src/dev/node/devRpc';
import { listDevContracts } from '../../../src/dev/sources/verifyDevContracts';
import { buildWorld } from '../../../src/dev/world/buildWorld';
import { createLog } from '../../../src/log';
import { findCompilers, rememberCompilations } from '../../../src/contracts/verify/compilers';
import { verifyContract } from '../../../src/contracts/verify/verifyContract';

test('the sources of every token, and of the V2 pools, factories, routers and the trader, compile to the code on the chain', async () => {
  const node = await startAnvil({ log: createLog('silent', false), timestamp: 1_700_000_000, accounts: 20 });
  const rpc = openDevRpc(node.url);
  try {
    const world = await buildWorld(rpc);
    const compilers = rememberCompilations(findCompilers({ niceness: 0 }));
    const contracts = listDevContracts(world);
    const [{ address: first } = { address: null }] = contracts;
    expect(world.pools.map((pool) => pool.address)).toContain(first);
    const covered = contracts.map(({ address }) => address);
    expect(covered).toEqual(expect.arrayContaining(world.tokens.map(({ address }) => address)));
    expect(covered).toEqual(expect.arrayContaining([world.trader, world.multicall3]));
    expect(covered).toEqual(
      expect.arrayContaining(world.v2.flatMap(({ factory, router }) => [factory, router])),
    );
    const runtimeOf = async (address: string) =>
      toHexData(await rpc.call('eth_getCode', [address, 'latest']));
    for (const { address, name, sourceSet: set } of contracts) {
      const request = {
        chainId: 369,
        address,
        input: set.input,
        contractName: name,
        compilerVersion: set.compiler,
        license: null,
      };
      const onChain = { runtime: await runtimeOf(address), creation: null, transaction: null };
      const result = await verifyContract(compilers, request, onChain, 0);
      const status = 'record' in result ? result.record.contract.status : result.reason;
      // The project's own contracts have no hash of their sources in the code.
      expect([name, status]).toEqual([name, name.includes('Uniswap') ? 'exact_match' : 'match']);
    }
    // A changed source is refused.
    const [contract] = contracts.filter(({ name }) => name.endsWith(':DevToken'));
    const source = JSON.stringify(contract?.sourceSet.input);
    const changed = source.replace('return ticker', 'return text');
    expect(changed).not.toBe(source);
    const wrong = await verifyContract(
      compilers,
      {
        chainId: 369,
        address: contract?.address ?? '0x',
        input: JSON.parse(changed),
        contractName: 'DevToken.sol:DevToken',
        compilerVersion: '0.8.30',
        license: null,
      },
      { runtime: await runtimeOf(contract?.address ?? ''), creation: null, transaction: null },
      0,
    );
    expect(wrong).toMatchObject({ fault: expect.any(String) });
  } finally {
    await rpc.close();
    await node.stop();
  }
});
