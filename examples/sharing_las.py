"""A preemptive policy that shares GPUs, in Python: least attained service, two jobs of one GPU each per GPU.

    python3 examples/sharing_las.py

Jobs that wait go by the time that they were served, then by submission. Each call starts the first one that finds a place: free
GPUs; a GPU beside another job; or GPUs of jobs that were served more by a quantum, which leave them. So jobs do not change places
for seconds. docs/python.md explains what a policy sees. policies/sharing_las.cpp is the same in C++, and decides the same.
"""

import corun


class SharingLas(corun.Policy):
    quantum_ns = 600 * 10**9

    def decide(self, view):
        wake = corun.Wake((view.now_ns // self.quantum_ns + 1) * self.quantum_ns)
        waiting = [view.job(j) for j in view.waiting.tolist()]
        no_room = set()  # for jobs served less, so for later ones there is none either
        for job in sorted(waiting, key=lambda j: (j.served_ns, j.submit_ns, j.job)):
            ask = (job.gpus, job.gpu_models)
            if ask in no_room:
                continue
            place, leaving = view.consolidated(job.gpus, job=job.job).tolist(), []
            if not place:
                place = self.beside_another(view, job)
            if not place:
                place, leaving = self.make_room(view, job)
            if place:  # the next call sees what this one did
                return [wake] + [corun.Preempt(leaving)] * bool(leaving) + [corun.Start([job.job], place)]
            no_room.add(ask)
        return [wake]

    def beside_another(self, view, job):
        """A GPU with a job of one GPU."""
        if job.gpus != 1 or view.start != "join" or view.max_jobs_per_gpu == 1:
            return []
        for gpu in range(view.gpu_count):
            there = view.residents(gpu)
            if (len(there) == 1 and view.job(there[0]).gpus == 1 and not view.profiling(gpu)
                    and view.may_run_on(job.job, gpu)):
                return [gpu]
        return []

    def make_room(self, view, job):
        """GPUs of jobs that were served more by a quantum, and those jobs; none if they would not suffice."""
        gpus, residents = view.running
        running = {j: view.job(j) for g, j in zip(gpus.tolist(), residents.tolist()) if not view.profiling(g)}
        victims = []
        for other in sorted(running.values(), key=lambda j: (-j.served_ns, -j.submit_ns, j.job)):
            if other.served_ns < job.served_ns + self.quantum_ns:
                break
            if other.started_ns == view.now_ns:
                continue
            victims.append(other.job)
            place = view.consolidated(job.gpus, without=victims, job=job.job).tolist()
            if place:
                return place, sorted({j for g in place for j in view.residents(g)})
        return [], []


if __name__ == "__main__":
    results = corun.replay("examples/jobs.csv", policies=["fifo", "las", SharingLas], replications=3,
                           set={"control.start": "join", "cluster.nodes": 1, "cluster.gpus_per_node": 2})
    print(results.metrics.groupby("label")[["jct_s", "isd", "ps"]].mean().round(3))
