import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { ListenAddress } from "../config/listen.ts";
import type { Config } from "../config/settings.ts";
import { adminListenFault, type SharedPorts } from "../listen/listeners.ts";

/**
 * Returns the ports that several processes will share. Rejects if a port cannot be opened, with ConfigError if it is the port of
 * SVC_ADMIN_LISTEN.
 */
export async function findPorts({
  host,
  port,
  adminListen,
}: Pick<Config, "host" | "port" | "adminListen">): Promise<SharedPorts> {
  await using taken = new AsyncDisposableStack();
  // Each port is first opened exclusively for a moment. Only then the system reports that another service already uses the port.
  const take = async (address: ListenAddress): Promise<number> => {
    const server = taken.adopt(createServer(), close);
    server.listen({ host: address.host, port: address.port });
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const admin =
    adminListen === undefined
      ? undefined
      : await take(adminListen).catch((error: NodeJS.ErrnoException) => {
          throw adminListenFault(adminListen, error);
        });
  return { main: await take({ host, port }), admin };
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, "close");
}
