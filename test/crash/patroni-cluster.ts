import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestDataDir } from "@svc/testing/data-dir";
import { freePort } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { parse, stringify } from "yaml";
import { codeBlocksOf } from "../markdown.ts";
import { readText } from "../source.ts";

/** A cluster of three PostgreSQL servers under Patroni, with etcd and HAProxy, all on loopback. Commits wait for a synchronous standby. */
export type PatroniCluster = {
  /** URL that lists the three servers. A client that uses it connects to the leader. */
  readonly url: string;
  /** URL of HAProxy, which forwards each connection to the leader. */
  readonly proxyUrl: string;
  /**
   * Resolves when one server leads, another is its synchronous standby, and all three run on the timeline of the leader. Rejects with what
   * the cluster says of itself and the ends of its logs.
   */
  untilWhole(): Promise<void>;
  /** Kills the leader and its Patroni, as if the machine were lost. Returns a function that starts the machine again. */
  killLeader(): Promise<() => void>;
  stop(): Promise<void>;
};

/** Programs that the cluster needs, each with Debian's package that contains it. */
const patroniPrograms: readonly (readonly [path: string, name: string])[] = [
  ["/usr/bin/patroni", "patroni"],
  ["/usr/bin/etcd", "etcd-server"],
  ["/usr/sbin/haproxy", "haproxy"],
  ["/usr/lib/postgresql/15/bin/postgres", "postgresql-15"],
];

/** Returns the names of Debian's packages that are missing on this machine. */
export function missingPackages(): string[] {
  return patroniPrograms.flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
}

type Member = { readonly name: string; readonly folder: string; readonly port: number; readonly restPort: number };
/** A server as Patroni reports it. */
type Status = { name: string; role: string; state: string; timeline?: number };

// PostgreSQL refuses to run as root.
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
/** Longest time in milliseconds until a cluster is whole again. Patroni notices a lost leader after 20 s at the earliest. */
const wholeMs = 300_000;

/** Starts a cluster. Its files are in memory if there is room: the machine's disk may be busy with other work. */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const place = await createTestDataDir();
  const etcd = await startEtcd(place);
  const members = await Promise.all(["one", "two", "three"].map((name) => prepareMember(place, name, etcd.client)));
  const proxy = await startProxy(place, members);
  const running = new Map<string, ChildProcess>();
  const start = ({ name, folder }: Member) =>
    void running.set(name, startProgram("/usr/bin/patroni", [join(folder, "patroni.yml")], join(place, `${name}.log`)));
  for (const member of members) start(member);
  const address = `postgres://${superuser.username}:${superuser.password}@`;
  return {
    url: `${address}${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres?target_session_attrs=read-write`,
    proxyUrl: `${address}127.0.0.1:${proxy.port}/postgres`,
    async untilWhole() {
      try {
        await until(async () => isWhole(await statusesOf(members)), "the cluster is whole", wholeMs);
      } catch (error) {
        throw new Error(`${error}\n${JSON.stringify(await statusesOf(members))}\n${await endsOfLogs(place, members)}`);
      }
    },
    async killLeader() {
      const leader = (await statusesOf(members)).find(({ role }) => role === "leader")?.name;
      const member = members.find(({ name }) => name === leader);
      if (member === undefined) throw new Error("the cluster has no leader");
      await killMember(member, running.get(member.name));
      return () => start(member);
    },
    async stop() {
      await Promise.all(members.map((member) => killMember(member, running.get(member.name))));
      for (const program of [proxy.process, etcd.process]) await killed(program);
      if (process.env["SVC_TEST_KEEP"]) process.stderr.write(`kept ${place}\n`);
      else await rm(place, { recursive: true, force: true });
    },
  };
}

/** Returns what the first server that answers says of all servers. */
async function statusesOf(members: readonly Member[]): Promise<readonly Status[]> {
  for (const { restPort } of members) {
    const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, { signal: AbortSignal.timeout(5_000) })
      .then((response) => response.json() as Promise<{ members: Status[] }>)
      .catch(() => undefined);
    if (answer !== undefined) return answer.members;
  }
  return [];
}

function isWhole(found: readonly Status[]): boolean {
  const leader = found.find(({ role }) => role === "leader");
  const follows = ({ state, timeline }: Status) =>
    (state === "running" || state === "streaming") && timeline === leader?.timeline;
  return (
    leader !== undefined &&
    found.length === 3 &&
    found.every(follows) &&
    found.some(({ role }) => role === "sync_standby")
  );
}

async function endsOfLogs(place: string, members: readonly Member[]): Promise<string> {
  const ends = members.map(async ({ name }) => {
    const lines = (await readFile(join(place, `${name}.log`), "utf8")).trimEnd().split("\n");
    return `--- ${name}\n${lines.slice(-40).join("\n")}`;
  });
  return (await Promise.all(ends)).join("\n");
}

/** Starts a program in a process group of its own, which writes to a log. */
function startProgram(path: string, given: readonly string[], logPath: string): ChildProcess {
  const log = openSync(logPath, "a");
  return spawn(path, given, { ...account, cwd: "/", detached: true, stdio: ["ignore", log, log] });
}

async function startEtcd(place: string): Promise<{ process: ChildProcess; client: string }> {
  const [client, peer] = [`127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const folder = await ownFolder(place, "etcd");
  const given = [
    ...["--data-dir", join(folder, "data"), "--log-level", "fatal", "--initial-cluster", `default=${peer}`],
    ...["--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
  ];
  const started = startProgram("/usr/bin/etcd", given, join(place, "etcd.log"));
  const isHealthy = async () => (await fetch(`http://${client}/health`).catch(() => undefined))?.ok === true;
  await until(isHealthy, "etcd answers");
  return { process: started, client };
}

/** Starts HAProxy with the configuration of the page for operators. */
async function startProxy(place: string, members: readonly Member[]): Promise<{ process: ChildProcess; port: number }> {
  const port = await freePort();
  const text = documentedBlock("text", "listen postgres").replace("*:5000", `127.0.0.1:${port}`);
  const moved = members.reduce((all, { port: own, restPort }, index) => {
    return all.replace(`10.0.0.1${index + 1}:5432 check port 8008`, `127.0.0.1:${own} check port ${restPort}`);
  }, text);
  const path = join(place, "haproxy.cfg");
  await writeFile(path, moved, { mode: 0o644 });
  const program = startProgram("/usr/sbin/haproxy", ["-db", "-f", path], join(place, "haproxy.log"));
  return { process: program, port };
}

/** Makes the folder and the configuration of a server. */
async function prepareMember(place: string, name: string, etcd: string): Promise<Member> {
  const folder = await ownFolder(place, name);
  const member = { name, folder, port: await freePort(), restPort: await freePort() };
  await writeFile(join(folder, "patroni.yml"), stringify(configurationOf(member, etcd)));
  return member;
}

/** Makes a folder that belongs to the account of the programs. */
async function ownFolder(place: string, name: string): Promise<string> {
  const folder = join(place, name);
  await mkdir(folder, { mode: 0o711 });
  if (account.uid !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

/** Returns the code block of the page for operators that has this language and start. */
function documentedBlock(language: string, start = ""): string {
  const blocks = codeBlocksOf(readText("docs/guides/operations/survive-a-database-failure.md"));
  const block = blocks.find((one) => one.language === language && one.text.startsWith(start));
  if (block === undefined) throw new Error(`the page has no block of ${language} that starts with "${start}"`);
  return block.text;
}

/** The configuration of the page for operators, which the servers of the cluster use with their own names, folders and addresses. */
const documented = parse(documentedBlock("yaml"));
const superuser: { username: string; password: string } = documented.postgresql.authentication.superuser;

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

/** Kills a server with all its sessions and its Patroni, and waits until they have ended. */
async function killMember({ folder }: Member, patroni: ChildProcess | undefined): Promise<void> {
  if (patroni !== undefined) await killed(patroni);
  const [pid] = (await readFile(join(folder, "data/postmaster.pid"), "utf8").catch(() => "")).split("\n");
  if (!pid) return;
  // The server must not start processes while its processes are listed.
  send(Number(pid), "SIGSTOP");
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const all = [Number(pid), ...children.trim().split(" ").filter(Boolean).map(Number)];
  for (const one of all) send(one, "SIGKILL");
  await until(() => !all.some((one) => send(one, 0)), "the server has ended");
}

/** Sends a signal. Returns false if the process has ended. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Kills a program with the processes of its group, and waits until it has ended. */
async function killed(program: ChildProcess): Promise<void> {
  if (program.pid === undefined || program.exitCode !== null || program.signalCode !== null) return;
  const ended = new Promise((resolve) => program.once("exit", resolve));
  process.kill(-program.pid, "SIGKILL");
  await ended;
}
