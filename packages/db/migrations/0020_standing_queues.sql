DROP INDEX "standing_runs_open";--> statement-breakpoint
CREATE INDEX "standing_runs_running" ON "standing_runs" USING btree ("program_id","lane","id") WHERE state = 'started';--> statement-breakpoint
CREATE INDEX "standing_runs_queued" ON "standing_runs" USING btree ("program_id","lane","id") WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX "standing_runs_ready" ON "standing_runs" USING btree ("program_id","not_before") WHERE state = 'queued' and not_before is not null;--> statement-breakpoint
CREATE INDEX "standing_runs_oldest" ON "standing_runs" USING btree ("program_id","decided_at") WHERE state = 'queued';