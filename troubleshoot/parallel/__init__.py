"""Scans many sources, or parts of large ones, at the same time, and gives what a serial scan gives.

    list_files -> partition -> scan_partition (in other processes, or on other machines) -> Gathering -> ScanResults

Who runs the partitions is a `Runner`: the local pool (pool.py) or Ray (ray_runner.py). Both are driven by drive.py, and
neither knows what is in a partition. Nothing here is imported by a scan that needs one process only.
"""
