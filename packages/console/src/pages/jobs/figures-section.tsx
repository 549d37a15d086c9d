import type { Job } from "@svc/gen/jobs";
import { Section } from "../../ui/layout/section.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { figuresOf } from "./figures.ts";

/** Draws the figures of a job (such as its number of calls): estimated, simulated if there was a simulation, actual, and the limits. */
export function FiguresSection({ job, simulation }: { job: Job; simulation: Job | undefined }) {
  const withSimulation = simulation !== undefined;
  return (
    <Section title="Usage and limits">
      <Table
        label="Figures"
        head={["Of", "At most", ...(withSimulation ? ["Simulated"] : []), "Used", "Limit"]}
        rows={figuresOf(job, simulation).map(({ name, estimated, simulated, actual: used, limit }) => ({
          id: name,
          cells: [name, estimated, ...(withSimulation ? [simulated] : []), used, limit],
        }))}
      />
    </Section>
  );
}
