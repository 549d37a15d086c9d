import { listFiles } from "../source.ts";

/** Pages about programs, jobs, questions and schedules. */
export const jobPages: readonly string[] = [
  "docs/start/automate-a-task.md",
  "docs/concepts/durable-execution.md",
  "docs/concepts/coming-from-other-products.md",
  "docs/reference/jobs.md",
  "docs/reference/questions.md",
  ...["guides/jobs", "guides/questions", "guides/schedules", "reference/program", "reference/schedules"].flatMap(
    (folder) => listFiles(`docs/${folder}`).filter((path) => path.endsWith(".md")),
  ),
];
