import { repeats } from "@svc/testing/sample";
import { call, type ServerProcess, until } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { startSubscriber } from "@svc/testing/subscriber";
import { expect, onTestFinished, test } from "vitest";
import { createJobsBench, type JobsBench, startNode, untilIdle } from "./jobs-bench.ts";
import { examineLoad, prepareLoad, startJobsLoad } from "./jobs-load.ts";
import { type Load, numbersOf, startLoad } from "./load.ts";
import { missingPackages, type PatroniCluster, startPatroniCluster } from "./patroni-cluster.ts";

const rounds = repeats({ sample: 1, whole: 10 });
/** Patroni notices a lost leader after 20 s, and the machine may have other work. */
const acceptsAgainMs = 120_000;

/** Starts a node that knows the three servers, and one that reaches the leader through HAProxy. */
async function startNodes(cluster: PatroniCluster, bench: JobsBench): Promise<readonly [ServerProcess, ServerProcess]> {
  const start = async (url: string) => {
    const toolkits = `${bench.env["SVC_TOOLKITS"]},${fewToolkits}`;
    const variables = { SVC_TOOLKITS: toolkits, SVC_DATABASE_URL: url, SVC_WEBHOOK_AUDIENCE: "projects" };
    const node = await startNode(bench, variables);
    onTestFinished(async () => void (await node.end("SIGKILL")));
    return node;
  };
  return [await start(cluster.url), await start(cluster.proxyUrl)];
}

function untilAcknowledged(loads: readonly Load[], count: number, timeoutMs: number, what: string): Promise<void> {
  const before = loads.map((load) => load.acknowledged.size);
  const isDone = () => loads.every((load, index) => load.acknowledged.size >= (before[index] ?? 0) + count);
  return until(isDone, timeoutMs, what);
}

/**
 * Kills the leader `rounds` times under the loads. Returns for each kill the seconds until both nodes accepted posts again, and the seconds
 * until the cluster was whole again.
 */
async function killLeaders(cluster: PatroniCluster, loads: readonly Load[]): Promise<readonly [number, number][]> {
  const took: [number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    await untilAcknowledged(loads, 50, acceptsAgainMs, "load on the leader");
    const killedAt = performance.now();
    const secondsSince = () => (performance.now() - killedAt) / 1_000;
    const startAgain = await cluster.killLeader();
    await untilAcknowledged(loads, 1, acceptsAgainMs, "a post accepted by the next leader");
    const accepted = secondsSince();
    startAgain();
    await cluster.untilWhole();
    took.push([accepted, secondsSince()]);
    const [seconds, whole] = [accepted.toFixed(1), secondsSince().toFixed(1)];
    process.stderr.write(`patroni: kill ${round + 1}: accepted again after ${seconds} s, whole after ${whole} s\n`);
  }
  return took;
}

test("a Patroni cluster whose leader is killed under load loses no post and repeats no job", {
  timeout: 400_000 + rounds * 200_000,
}, async ({ skip }) => {
  const missing = missingPackages();
  if (missing.length > 0) skip(`apt-get install ${missing.join(" ")}: not on this machine`);
  const cluster = await startPatroniCluster();
  onTestFinished(cluster.stop, 60_000);
  await cluster.untilWhole();
  const receiver = await startSubscriber();
  onTestFinished(() => receiver.close());
  const bench = await createJobsBench(cluster.url);
  onTestFinished(bench.close);
  bench.provider.latencyMs = 20;
  const nodes = await startNodes(cluster, bench);
  await call(nodes[0], "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  await prepareLoad(nodes[0], bench);

  const loads = nodes.map((node) => startLoad(node, 4));
  onTestFinished(async () => void (await Promise.all(loads.map((load) => load.stop()))));
  let turn = 0;
  // A client that one node refuses goes to the other.
  const jobs = startJobsLoad(() => nodes[turn++ % 2 === 0 ? 0 : 1], bench, 4);
  onTestFinished(jobs.stop);
  const took = await killLeaders(cluster, loads);
  await Promise.all([...loads, jobs].map((load) => load.stop()));

  const acknowledged = loads.flatMap((load) => [...load.acknowledged]);
  // Attempts whose record was lost with a leader are repeated when their leases of 30 s have ended.
  const undelivered = () => {
    const received = numbersOf(receiver.received);
    return acknowledged.filter((number) => !received.has(number));
  };
  await until(() => undelivered().length === 0, 120_000, "all that was acknowledged delivered");
  expect(undelivered()).toEqual([]);
  // A call under way at a kill counts as lost only after two minutes.
  const unknown = await examineLoad(nodes[0], { load: jobs, bench, timeoutMs: 240_000 });
  await untilIdle(cluster.url, 60_000);
  const [accepted, whole] = [0, 1].map((place) => took.map((one) => one[place]?.toFixed(1)).join(", "));
  process.stderr.write(`patroni: ${rounds} kills, ${acknowledged.length} posts accepted, 0 lost\n`);
  process.stderr.write(`patroni: ${jobs.submitted.size} jobs, ${unknown} calls unknown, none made twice without it\n`);
  process.stderr.write(`patroni: both nodes accepted again after ${accepted} s; whole after ${whole} s\n`);
});
