import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { parse, stringify } from "yaml";
import { codeBlocksOf } from "../markdown.ts";
import { readText } from "../source.ts";

/** A cluster of three PostgreSQL servers under Patroni, with etcd, all on loopback. Commits wait for a synchronous standby. */
export type PatroniCluster = {
  /** URL that lists the three servers. A client that uses it connects to the leader. */
  readonly url: string;
  /** Resolves when one server leads, another is its synchronous standby, and all three run. */
  untilWhole(): Promise<void>;
  /** Kills the leader and its Patroni, as if the machine were lost. Returns a function that starts the machine again. */
  killLeader(): Promise<() => void>;
  stop(): Promise<void>;
};

/** Programs that the cluster needs, each with Debian's package that contains it. */
const patroniPrograms: readonly (readonly [path: string, name: string])[] = [
  ["/usr/bin/patroni", "patroni"],
  ["/usr/bin/etcd", "etcd-server"],
  ["/usr/lib/postgresql/15/bin/postgres", "postgresql-15"],
];

/** Returns the names of Debian's packages that are missing on this machine. */
export function missingPackages(): string[] {
  return patroniPrograms.flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
}

type Member = { readonly name: string; readonly folder: string; readonly port: number; readonly restPort: number };
type Status = { name: string; role: string; state: string };

// PostgreSQL refuses to run as root.
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** Longest time in milliseconds until a cluster is whole again. Patroni notices a lost leader after 20 s at the earliest. */
const wholeMs = 600_000;

/** Starts a cluster, and waits until it is whole. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const place = await mkdtemp(join(tmpdir(), "svc-patroni-"));
  await chmod(place, 0o755);
  const etcd = await startEtcd(place);
  const members = await Promise.all(["one", "two", "three"].map((name) => prepareMember(place, name, etcd.client)));
  const running = new Map<string, ChildProcess>();
  const start = ({ name, folder }: Member) => {
    const program = spawn("/usr/bin/patroni", [join(folder, "patroni.yml")], { ...account, cwd: "/", stdio: "ignore" });
    running.set(name, program);
  };
  const statuses = async (): Promise<readonly Status[]> => {
    for (const { restPort } of members) {
      const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`).catch(() => undefined);
      if (answer !== undefined) return ((await answer.json()) as { members: Status[] }).members;
    }
    return [];
  };
  const isWhole = async () => {
    const found = await statuses();
    const count = (role: string) => found.filter((one) => one.role === role).length;
    const isRunning = found.every(({ state }) => state === "running" || state === "streaming");
    return found.length === members.length && isRunning && count("leader") === 1 && count("sync_standby") === 1;
  };
  for (const member of members) start(member);
  const { username, password } = documented.postgresql.authentication.superuser;
  return {
    url: `postgres://${username}:${password}@${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres?target_session_attrs=read-write`,
    untilWhole: () => until(isWhole, "the cluster is whole", wholeMs),
    async killLeader() {
      const leader = (await statuses()).find(({ role }) => role === "leader")?.name;
      const member = members.find(({ name }) => name === leader);
      if (member === undefined) throw new Error("the cluster has no leader");
      await killMember(member, running.get(member.name));
      return () => start(member);
    },
    async stop() {
      await Promise.all(members.map((member) => killMember(member, running.get(member.name))));
      await killed(etcd.process);
      await rm(place, { recursive: true, force: true });
    },
  };
}

async function startEtcd(place: string): Promise<{ process: ChildProcess; client: string }> {
  const [client, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const given = [
    ...["--data-dir", join(place, "etcd"), "--log-level", "fatal", "--initial-cluster", `default=${peer}`],
    ...["--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
  ];
  const started = spawn("/usr/bin/etcd", given, { stdio: "ignore" });
  const isHealthy = async () => (await fetch(`http://${client}/health`).catch(() => undefined))?.ok === true;
  await until(isHealthy, "etcd answers");
  return { process: started, client };
}

/** Makes the folder and the configuration of a server. */
async function prepareMember(place: string, name: string, etcd: string): Promise<Member> {
  const folder = join(place, name);
  const [port, restPort] = [await freePort(), await freePort()];
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, "patroni.yml"), stringify(configurationOf({ name, folder, port, restPort }, etcd)));
  if (account.uid !== undefined)
    for (const path of [folder, join(folder, "patroni.yml")]) await chown(path, account.uid, account.gid);
  return { name, folder, port, restPort };
}

/** The configuration of the page for operators, which the servers of the cluster use with their own names, folders and addresses. */
const documented = parse(
  codeBlocksOf(readText("docs/guides/operations/survive-a-database-failure.md")).find(
    ({ language }) => language === "yaml",
  )?.text ?? "",
);

function configurationOf({ name, folder, port, restPort }: Member, etcd: string): object {
  const at = (own: number) => ({ listen: `127.0.0.1:${own}`, connect_address: `127.0.0.1:${own}` });
  return {
    ...documented,
    name,
    restapi: at(restPort),
    etcd3: { hosts: etcd },
    postgresql: {
      ...documented.postgresql,
      ...at(port),
      ...{ data_dir: join(folder, "data"), pgpass: join(folder, "pgpass") },
      pg_hba: documented.postgresql.pg_hba.map((line: string) => line.replace("10.0.0.0/24", "127.0.0.1/32")),
      parameters: { unix_socket_directories: "", shared_buffers: "64MB" },
    },
  };
}

/** Kills a server and its Patroni, and waits until the server has ended. */
async function killMember({ folder }: Member, patroni: ChildProcess | undefined): Promise<void> {
  if (patroni !== undefined) await killed(patroni);
  const [pid] = (await readFile(join(folder, "data/postmaster.pid"), "utf8").catch(() => "")).split("\n");
  if (!pid) return;
  const send = (signal: NodeJS.Signals | 0) => {
    try {
      return process.kill(Number(pid), signal);
    } catch {
      return false;
    }
  };
  send("SIGKILL");
  await until(() => !send(0), "the server has ended");
}

async function killed(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = new Promise((resolve) => program.once("exit", resolve));
  program.kill("SIGKILL");
  await ended;
}
