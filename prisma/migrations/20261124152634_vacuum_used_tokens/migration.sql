-- As many rows go as come: see vacuum_where_rows_churn.
ALTER TABLE "UsedToken" SET (autovacuum_vacuum_scale_factor = 0.02);
