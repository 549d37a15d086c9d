import type { QuerySeriesResponse } from "@svc/gen/stats";
import { useNavigate } from "@tanstack/react-router";
import { Chart } from "../../ui/chart/chart.tsx";
import { chartsOf } from "./charts.ts";
import { listOf } from "./links.ts";
import { ListLink } from "./list-link.tsx";
import styles from "./overview.module.css";

/** What happened over time, a chart each; every point leads to the list it was counted from. */
export function Charts({
  projectId,
  answer,
  asTable,
  onBrush,
}: {
  projectId: string;
  answer: QuerySeriesResponse;
  asTable: boolean;
  onBrush: (sinceMs: number, untilMs: number) => void;
}) {
  const navigate = useNavigate();
  return (
    <>
      <div className={styles["charts"]}>
        {chartsOf(answer).map(({ series, title, data }) => (
          <Chart
            key={series}
            title={title}
            data={data}
            asTable={asTable}
            link={(words, of) => {
              const list = listOf(series, of);
              return list === undefined ? (
                words
              ) : (
                <ListLink list={list} projectId={projectId}>
                  {words}
                </ListLink>
              );
            }}
            onOpen={(sinceMs, untilMs) => {
              const list = listOf(series, { sinceMs, untilMs });
              if (list !== undefined) void navigate({ ...list, params: { projectId } } as never);
            }}
            onBrush={onBrush}
          />
        ))}
      </div>
      <p className={styles["note"]}>Charts lag by up to 10 s, and latencies are estimates. Lists are exact.</p>
    </>
  );
}
