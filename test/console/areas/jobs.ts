import type { Area } from "../area.ts";
import {
  announcingProgram,
  askingProgram,
  branchingProgram,
  cronHalfADayAway,
  deletingProgram,
  jobWithStatus,
  seedPeople,
  submitProgram,
} from "../jobs-seed.ts";

/** Pages of jobs, questions, programs, contacts, skills and schedules. */
export const jobs: Area = {
  seed: async (svc) => {
    await seedPeople(svc);
    const done = await submitProgram(svc, announcingProgram);
    await jobWithStatus(svc, done, "SUCCEEDED");
    await svc.call("svc.v1.JobsService/PromoteJob", {
      ...{ jobId: done, slug: "announce", description: "Announces a text in the team's channel." },
    });
    const asking = await submitProgram(svc, askingProgram);
    const { pendingAsk } = await jobWithStatus(svc, asking, "PARKED");
    const deleting = await submitProgram(svc, deletingProgram, { simulateFirst: true });
    await jobWithStatus(svc, deleting, "PENDING_PLAN_APPROVAL");
    const branching = await submitProgram(svc, branchingProgram);
    await jobWithStatus(svc, branching, "PARKED");
    const { asks } = (await svc.call("svc.v1.JobsService/ListAsks", { jobId: deleting })).json;
    const { asks: ofJob } = (await svc.call("svc.v1.JobsService/ListAsks", { jobId: asking })).json;
    const { standingProgram } = (
      await svc.call("svc.v1.StandingService/CreateStandingProgram", {
        slug: "announce-daily",
        definitionJson: JSON.stringify({
          version: 1,
          title: "Announce lunch each day",
          timeZone: "UTC",
          source: { schedule: { cron: [cronHalfADayAway()] } },
          program: announcingProgram,
        }),
      })
    ).json;
    return {
      ...{ done, asking, deleting, branching, ask: ofJob[0].requestId, approval: asks[0].requestId },
      ...{ schedule: standingProgram?.id ?? "", point: pendingAsk.pointId },
    };
  },
  pages: [
    {
      name: "jobs",
      path: () => "jobs",
      shows: (page) => page.getByRole("row", { name: "Gather from two places" }).waitFor(),
    },
    {
      name: "job-done",
      path: ({ done }) => `jobs/${done}`,
      shows: (page) =>
        page
          .getByRole("row", { name: "tell" })
          .getByText(/, done$/)
          .waitFor(),
    },
    {
      name: "job-result",
      path: ({ done }) => `jobs/${done}?tab=result`,
      shows: (page) => page.getByRole("region", { name: "Receipt" }).waitFor(),
    },
    {
      name: "job-log",
      path: ({ done }) => `jobs/${done}?tab=log`,
      shows: (page) => page.getByText("job-promoted").waitFor(),
    },
    {
      name: "job-calls",
      path: ({ done }) => `jobs/${done}?tab=calls`,
      shows: (page) => page.getByRole("link", { name: "messaging_bot.send_message", exact: true }).waitFor(),
    },
    {
      name: "job-asking",
      path: ({ asking }) => `jobs/${asking}`,
      shows: async (page) => {
        await page.getByRole("button", { name: "Continue the job" }).waitFor();
        await page
          .getByRole("row", { name: "gate" })
          .getByText(/waiting for lead$/)
          .waitFor();
      },
    },
    {
      name: "job-branching",
      path: ({ branching }) => `jobs/${branching}?step=later`,
      shows: async (page) => {
        await page
          .getByRole("row", { name: "later" })
          .getByText(/waiting for a time$/)
          .waitFor();
        await page.getByRole("region", { name: "Step later" }).getByText("Waiting", { exact: true }).waitFor();
      },
    },
    {
      name: "job-graph",
      path: ({ branching }) => `jobs/${branching}?tab=graph`,
      shows: (page) => page.getByRole("group", { name: "Steps and their data" }).getByText("Get me").first().waitFor(),
    },
    {
      name: "job-compare",
      path: ({ done }) => `jobs/${done}?tab=compare`,
      shows: (page) => page.getByText("There is no other job with this program to compare").waitFor(),
    },
    {
      name: "jobs-filtered-to-nothing",
      path: () => "jobs?title=nothing-of-the-kind",
      shows: (page) => page.getByRole("heading", { name: "No job matches" }).waitFor(),
    },
    {
      name: "asks",
      path: () => "asks",
      shows: (page) => page.getByRole("row", { name: "reminders would go out" }).waitFor(),
    },
    {
      name: "ask",
      path: ({ asking, ask }) => `asks/${asking}/${ask}`,
      shows: (page) => page.getByRole("button", { name: "Retry with changes" }).waitFor(),
    },
    {
      name: "ask-approval",
      path: ({ deleting, approval }) => `asks/${deleting}/${approval}`,
      shows: async (page) => {
        await page.getByText("You can approve this").waitFor();
        await page.getByText("Deletes", { exact: true }).waitFor();
      },
    },
    {
      name: "program",
      path: ({ done }) => `programs/new?from=${done}`,
      shows: (page) => page.getByText("Ready to run").waitFor(),
    },
    {
      name: "contacts",
      path: () => "contacts",
      shows: (page) => page.getByText("Head of sales").waitFor(),
    },
    {
      name: "skills",
      path: () => "skills",
      shows: (page) => page.getByRole("row", { name: "skills.announce" }).waitFor(),
    },
    {
      name: "skill",
      path: () => "skills/announce",
      shows: (page) => page.getByRole("button", { name: "Call skills.announce" }).waitFor(),
    },
    {
      name: "schedules",
      path: () => "schedules",
      shows: (page) => page.getByRole("row", { name: "Announce lunch each day" }).waitFor(),
    },
    {
      name: "schedule",
      path: ({ schedule }) => `schedules/${schedule}`,
      shows: (page) => page.getByRole("button", { name: "Run now" }).waitFor(),
    },
  ],
};
