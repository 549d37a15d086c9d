import { submission } from "../jobs/setting.ts";
import { delay } from "../monotonic.ts";
import { benchAdminToken, callServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

/** Delay of jobs that a project submits during a herd, compared with jobs before it. */
export type InteractiveDelay = {
  readonly name: string;
  readonly count: number;
  /** Median delay in milliseconds. */
  readonly p50: number;
  readonly max: number;
};

/** Milliseconds between submissions, each of one job of the herd's project and one of another project. */
const everyMs = 100;
const alone = 20;

type EndedJob = { readonly status: string; readonly createdAt: string; readonly finishedAt: string };

/** A job that calls no app. Its end shows that a node took it twice: after its submission and after its wait. */
const job = submission("A job of a person", [{ id: "pause", wait: "1s" }]);

/**
 * Submits jobs as people do, in the project of the coming herd and in another one: first alone, then from `begin` to `end` during the herd.
 * `end` waits for them, and throws if one did not succeed.
 */
export async function interactiveJobs(system: System): Promise<{ begin(): void; end(): Promise<InteractiveDelay[]> }> {
  const keys = [
    { name: "of its project", key: undefined },
    { name: "of another project", key: await keyOfAnother(system) },
  ];
  const found = keys.map(({ name, key }) => ({ name, key, before: [] as string[], beside: [] as string[] }));
  const submitEach = async (stage: "before" | "beside") => {
    await Promise.all(found.map(async (each) => each[stage].push(await submit(system, each.key))));
    await delay(everyMs);
  };
  for (let index = 0; index < alone; index += 1) await submitEach("before");
  let isOver = false;
  let submitted: Promise<void> = Promise.resolve();
  return {
    begin: () => {
      submitted = (async () => {
        while (!isOver) await submitEach("beside");
      })();
    },
    end: async () => {
      isOver = true;
      await submitted;
      const delays: InteractiveDelay[] = [];
      for (const { name, key, before, beside } of found) {
        const usual = spreadOf(await durationsOf(system, key, before)).median;
        const { median, max } = spreadOf(await durationsOf(system, key, beside));
        delays.push({ name, count: beside.length, p50: median - usual, max: max - usual });
      }
      return delays;
    },
  };
}

async function keyOfAnother({ port }: System): Promise<string> {
  const { project } = (await callServer(port, "AdminService/CreateProject", { name: "another" }, benchAdminToken)) as {
    project: { id: string };
  };
  const wanted = { projectId: project.id, role: "ROLE_MEMBER", name: "a person" };
  const made = await callServer(port, "AdminService/CreateApiKey", wanted, benchAdminToken);
  return (made as { key: string }).key;
}

async function submit({ port }: System, key: string | undefined): Promise<string> {
  const { job: made } = (await callServer(port, "JobsService/SubmitJob", job, key)) as { job: { id: string } };
  return made.id;
}

/**
 * Returns the duration of each job from its submission to its end in milliseconds, and waits for running ones. Throws if one did not
 * succeed.
 */
async function durationsOf({ port }: System, key: string | undefined, ids: readonly string[]): Promise<number[]> {
  const giveUpAt = performance.now() + 60_000;
  const durations: number[] = [];
  for (const id of ids) {
    for (;;) {
      const { job: found } = (await callServer(port, "JobsService/GetJob", { id }, key)) as { job: EndedJob };
      if (found.status === "JOB_STATUS_SUCCEEDED") {
        durations.push(Date.parse(found.finishedAt) - Date.parse(found.createdAt));
        break;
      }
      if (performance.now() > giveUpAt) throw new Error(`a person's job is ${found.status}: ${id}`);
      await delay(100);
    }
  }
  return durations;
}
