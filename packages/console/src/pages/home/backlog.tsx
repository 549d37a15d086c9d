import type { GetBacklogResponse } from "@svc/gen/stats";
import { Section } from "../../ui/layout/section.tsx";
import { Table } from "../../ui/rows/table.tsx";
import { Time } from "../../ui/values/time.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { labelOf } from "../../words/word.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import styles from "./activity.module.css";
import { ListLink } from "./list-link.tsx";
import { ageWords } from "./needs.ts";

/** Draws the work that waits at present: deliveries by age and by subscription, and the unfinished jobs. */
export function Backlog({ projectId, backlog }: { projectId: string; backlog: GetBacklogResponse }) {
  return (
    <div className={styles["charts"]}>
      <Ages backlog={backlog} />
      <Worst projectId={projectId} backlog={backlog} />
      <Section title="Unfinished jobs" boxed>
        {backlog.jobs.length === 0 ? (
          <p className={styles["note"]}>None.</p>
        ) : (
          <Table
            label="Unfinished jobs by status"
            head={["Status", "Jobs"]}
            rows={backlog.jobs.map(({ status, count }) => {
              const name = jobStatusWord(status);
              const link = (
                <ListLink
                  key="status"
                  projectId={projectId}
                  list={{ to: "/p/$projectId/jobs", search: { status: name.word } }}
                >
                  {labelOf(name)}
                </ListLink>
              );
              return { id: name.word, cells: [link, count.toLocaleString("en")] };
            })}
          />
        )}
      </Section>
    </div>
  );
}

function Ages({ backlog: { pendingDeliveries, pendingByAge } }: { backlog: GetBacklogResponse }) {
  const most = Math.max(1, ...pendingByAge.map(({ count }) => count));
  return (
    <Section title="Waiting deliveries by age" boxed>
      <p className={styles["note"]}>
        {pendingDeliveries === 0
          ? "None."
          : `${pendingDeliveries.toLocaleString("en")} in all${pendingDeliveries >= 10_000 ? " and more" : ""}.`}
      </p>
      <dl className={styles["ages"]}>
        {pendingByAge.map(({ belowSeconds, count }, place) => (
          <div key={belowSeconds}>
            <dt>{ageWords(pendingByAge, place)}</dt>
            <dd>
              <span className={styles["bar"]} style={{ inlineSize: `${(count / most) * 100}%` }} aria-hidden="true" />
              {count.toLocaleString("en")}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const shownMax = 5;

function Worst({ projectId, backlog: { worstSubscriptions } }: { projectId: string; backlog: GetBacklogResponse }) {
  const { endpointOf } = useSubscriptions();
  return (
    <Section title="Longest queues" boxed>
      {worstSubscriptions.length === 0 ? (
        <p className={styles["note"]}>Nothing is waiting.</p>
      ) : (
        <Table
          label="Endpoints with the most waiting deliveries"
          head={["Endpoint", "Waiting", "Oldest"]}
          rows={worstSubscriptions.slice(0, shownMax).map(({ subscriptionId, pendingDeliveries, oldestAt }) => ({
            id: subscriptionId,
            cells: [
              <ListLink
                key="endpoint"
                projectId={projectId}
                list={{ to: "/p/$projectId/deliveries", search: { subscription: subscriptionId, state: "pending" } }}
              >
                {endpointOf(subscriptionId)}
              </ListLink>,
              pendingDeliveries.toLocaleString("en"),
              <Time key="oldest" at={oldestAt} />,
            ],
          }))}
        />
      )}
    </Section>
  );
}
