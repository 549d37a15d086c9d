CREATE TABLE "job_attempts" (
	"job_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"status" text NOT NULL,
	"last_error" text NOT NULL,
	"receipt" jsonb NOT NULL,
	"finished_at" timestamp (3) with time zone NOT NULL,
	"retried_at" timestamp (3) with time zone NOT NULL,
	"retry_key_id" uuid NOT NULL,
	"idempotency_key" text,
	"content_digest" "bytea" NOT NULL,
	CONSTRAINT "job_attempts_key" PRIMARY KEY("job_id","attempt")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "attempt" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "attempt_key_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "paused_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "pause_chain" text[];--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "refused_answers" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "has_lost_rows" boolean DEFAULT false NOT NULL;