/** A connection to a database that a test can cut, restore, or let hang. */
import { createServer, connect as connectSocket, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy that a test can cut and later restore on the same port. */
export class Cable {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  port = 0;

  constructor(private readonly targetPort: number) {}

  async join(): Promise<void> {
    const server = createServer((clientSocket) => {
      const serverSocket = connectSocket(this.targetPort, '127.0.0.1');
      for (const socket of [clientSocket, serverSocket]) {
        this.sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.sockets.delete(socket);
          clientSocket.destroy();
          serverSocket.destroy();
        });
      }
      clientSocket.pipe(serverSocket).pipe(clientSocket);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Keeps the connections open, but forwards nothing. */
  hang(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  async cut(): Promise<void> {
    const { server } = this;
    this.server = null;
    const serverClosed = new Promise<void>((resolve) =>
      server === null ? resolve() : server.close(() => resolve()),
    );
    for (const socket of this.sockets) socket.destroy();
    await serverClosed;
  }
}
