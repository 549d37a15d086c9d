CREATE INDEX "job_asks_project_pending" ON "job_asks" USING btree ("project_id","id") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "jobs_skill" ON "jobs" USING btree ("project_id","skill_slug","id") WHERE skill_slug <> '';--> statement-breakpoint
CREATE INDEX "jobs_simulations" ON "jobs" USING btree ("project_id","id") WHERE mode = 'simulate';--> statement-breakpoint
CREATE INDEX "tool_calls_outcome" ON "tool_calls" USING btree ("project_id","outcome","id") WHERE outcome <> 'ok' and outcome <> 'running';--> statement-breakpoint
-- At ordinary rates a delivery settles before the next is inserted, so the room left on its page stays empty: with 20 % a
-- page held three or four rows. With 40 % it holds twice as many, and settlements are HOT as before, under load mostly.
ALTER TABLE "deliveries" SET (fillfactor = 40);--> statement-breakpoint
-- The tables that grow for as long as their retention says, and whose dead rows come from sweeps: a fifth of a large one is
-- hours of sweeping that nothing gives back, and one vacuum that takes as long.
ALTER TABLE "deliveries" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000);--> statement-breakpoint
ALTER TABLE "events" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000);--> statement-breakpoint
ALTER TABLE "tool_calls" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000);--> statement-breakpoint
ALTER TABLE "job_events" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50000);
