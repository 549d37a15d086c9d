import { call } from "@svc/testing/server-process";
import type { JobAnswer, JobsBench } from "./jobs-bench.ts";
import { submitProgram } from "./jobs-bench.ts";
import { flaky, keyed, note, undo } from "./jobs-parts.ts";

/** The skills that the programs run, by name, each with the steps of its program. */
const skills: Readonly<Record<string, object>> = {
  note: { steps: [keyed("one")] },
  probe: { steps: [flaky()] },
  late: { steps: [note("one"), flaky(), note("two")] },
  relay: { steps: [{ id: "first", run: "skills.note", input: { tag: { $text: "{input.tag}/in" } } }, note("two")] },
  undone: { saga: { on: ["failed"] }, steps: [{ ...note("one"), undo }] },
};

/** Creates the skills that programs run, each from a job. `finish` brings that job to its end. */
export async function promoteSkills(
  server: { url: string },
  { bench, finish }: { bench: JobsBench; finish: (id: string) => Promise<JobAnswer> },
): Promise<void> {
  for (const [slug, program] of Object.entries(skills)) {
    const tag = `skill-${slug}`;
    bench.provider.mended.add(tag);
    const jobId = await submitProgram(server, { program, tag, appUrl: bench.provider.url });
    await finish(jobId);
    await call(server, "JobsService/PromoteJob", { jobId, slug, description: `Does what ${slug} says.` });
  }
}
