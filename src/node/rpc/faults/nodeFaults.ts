/** Says in which way a node gives no usable answers: it is silent, or it answers, but wrongly. For /readyz. Pure. */
import { AppError } from '../../../errors';
import type { NodeHealth } from '../nodeHealth';
import { RpcError } from '../rpcError';
import { faultKindOf, type FaultKind } from './endpointFaults';

export interface NodeFault {
  readonly code: string;
  readonly message: string;
  readonly figures?: Readonly<Record<string, number>>;
}

const AWAY: NodeFault = { code: 'node_away', message: 'The chain node does not answer' };
const FAULTS: Readonly<Record<Exclude<FaultKind, 'silent'>, NodeFault>> = {
  wrong: { code: 'node_wrong_answers', message: 'The chain node answers, but its answers are wrong' },
  refused: { code: 'node_refuses', message: 'The chain node refuses access' },
  limited: {
    code: 'node_limits',
    message: 'The chain node answers, but refuses calls because of a rate limit',
  },
  failing: { code: 'node_errors', message: 'The chain node answers, but only with errors' },
};

/** Lists why no endpoint gives usable answers. Endpoints of another chain are listed by their state instead. */
export function listNodeFaults({ endpoints }: NodeHealth): NodeFault[] {
  const endpointFaults = endpoints.flatMap(({ state, fault, lastError }, index) =>
    state === 'wrong_chain' || fault === null || fault === 'silent'
      ? []
      : [{ ...withText(FAULTS[fault], lastError), figures: { endpoint: index } }],
  );
  if (endpointFaults.length > 0)
    return endpointFaults.map((fault) => ({ ...fault, message: hideHosts(fault.message, endpoints) }));
  return endpoints.length > 0 && endpoints.every(({ state }) => state === 'wrong_chain') ? [] : [AWAY];
}

/** The fault of a node that one call has shown. */
export function faultOfError(error: unknown, endpoints: NodeHealth['endpoints']): NodeFault {
  if (!(error instanceof RpcError)) {
    if (!(error instanceof AppError) || error.code !== 'bad_config') return AWAY;
    const message = 'The chain node serves another chain';
    return { code: 'node_wrong_chain', message };
  }
  const kind = faultKindOf(error);
  if (kind === 'silent') return AWAY;
  const fault = withText(FAULTS[kind], error.message);
  return { ...fault, message: hideHosts(fault.message, endpoints) };
}

function withText(fault: NodeFault, text: string | null): NodeFault {
  return text === null ? fault : { ...fault, message: `${fault.message}: ${text}` };
}

/**
 * Hides host names in a message, because /readyz is public and a host name may contain an API key. The
 * endpoint's number remains.
 */
export function hideHosts(message: string, endpoints: NodeHealth['endpoints']): string {
  const parts = endpoints.map(({ name }) => name.split(' '));
  let text = message;
  // Two endpoints may have the same host, so all names are replaced before the first host.
  for (const [number = '', host = ''] of parts) text = text.replaceAll(`${number} ${host}`, number);
  for (const [, host = ''] of parts) {
    // A host without a dot is a name in the operator's own network. It is not hidden, because it may be a
    // common word.
    for (const hostName of [host, host.replace(/:\d+$/, '')])
      if (hostName.includes('.')) text = text.replaceAll(hostName, '…');
  }
  return text;
}
