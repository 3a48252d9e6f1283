/** A real node with an endpoint pool, for tests that deploy their own contracts. Mines a block for each transaction. */
import { startAnvil, type Anvil } from '../../../src/dev/node/anvil';
import { field, openDevRpc, type DevRpc } from '../../../src/dev/node/devRpc';
import { createEndpointPool, type EndpointPool } from '../../../src/node/rpc/endpointPool';
import type { Hex } from '../../../src/domain/hex';
import { createLog } from '../../../src/log';

export interface NodeChain {
  readonly anvil: Anvil;
  readonly rpc: DevRpc;
  readonly pool: EndpointPool;
  readonly accounts: readonly Hex[];
  /** Mines the transaction, sent by the first account unless `from` is given. Returns its receipt. */
  send(tx: object): Promise<unknown>;
  /** Deploys a contract with this creation code. */
  deploy(data: string): Promise<Hex>;
  close(): Promise<void>;
}

export async function startNodeChain(): Promise<NodeChain> {
  const log = createLog('silent', false);
  const anvil = await startAnvil({ log, chainId: 369, timestamp: 1_700_000_000, accounts: 3 });
  const rpc = openDevRpc(anvil.url);
  const pool = createEndpointPool({ urls: [anvil.url], chainId: 369, log });
  const accounts = (await rpc.call('eth_accounts')) as Hex[];
  const send = async (tx: object): Promise<unknown> => {
    const transactionParams = { from: accounts[0], gas: '0x7a1200', ...tx };
    const hash = await rpc.call('eth_sendTransaction', [transactionParams]);
    await rpc.call('evm_mine');
    return rpc.call('eth_getTransactionReceipt', [hash]);
  };
  return {
    anvil,
    rpc,
    pool,
    accounts,
    send,
    deploy: async (data) => field(await send({ data }), 'contractAddress') as Hex,
    async close() {
      await pool.close();
      await rpc.close();
      await anvil.stop();
    },
  };
}
